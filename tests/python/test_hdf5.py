"""HDF5 files of h5py and of MATLAB 7.3, made here as MATLAB makes them, against what pyquasar reads; and the reverse.
Files that end too early are errors."""
import os
import tempfile
import unittest

import numpy as np
import pyquasar as q

try:
    import h5py
except ImportError:
    h5py = None


def utf16(text, shape):
    return np.frombuffer(text.encode("utf-16le"), np.uint16).reshape(shape)


def write_matlab(path):
    """Writes a file as `save -v7.3` does: extents reversed, classes as attributes, 512 bytes before the file."""
    with h5py.File(path, "w", userblock_size=512) as f:
        def put(group, name, data, matlab_class, **attributes):
            group[name] = data
            group[name].attrs["MATLAB_class"] = np.bytes_(matlab_class)
            for key, value in attributes.items(): group[name].attrs[key] = value
            return group[name].ref
        put(f, "matrix", np.arange(6.0).reshape(3, 2), "double")
        put(f, "row", np.arange(4.0).reshape(4, 1), "double")
        put(f, "column", np.arange(4, dtype="f4").reshape(1, 4), "single")
        put(f, "number", np.array([[2.5]]), "double")
        put(f, "text", utf16("héllo", (5, 1)), "char")
        put(f, "rows", utf16("adbecf", (3, 2)), "char")
        put(f, "logical", np.array([[1], [0], [1]], np.uint8), "logical")
        put(f, "int8", np.array([[1], [-2]], np.int8), "int8")
        parts = np.zeros((2, 1), [("real", "f8"), ("imag", "f8")])
        parts["real"], parts["imag"] = [[1], [2]], [[3], [4]]
        put(f, "complex", parts, "double")
        put(f, "cube", np.arange(24.0).reshape(4, 3, 2), "double")
        put(f, "empty", np.array([0, 3], np.uint64), "double", MATLAB_empty=np.uint8(1))
        put(f, "no_text", np.array([0, 0], np.uint64), "char", MATLAB_empty=np.uint8(1))
        hidden = f.create_group("#refs#")
        items = [put(hidden, "a", np.array([[7.0]]), "double"), put(hidden, "b", utf16("hi", (2, 1)), "char")]
        put(f, "cell", np.array(items, h5py.ref_dtype).reshape(2, 1), "cell")
        struct = f.create_group("struct")
        put(struct, "p", np.array([[1.0]]), "double")
        put(struct, "q", utf16("ok", (2, 1)), "char")
        f.create_group("sparse").attrs["MATLAB_sparse"] = np.uint64(3)
    with open(path, "r+b") as f:
        f.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


@unittest.skipUnless(h5py, "needs h5py")
class Hdf5(unittest.TestCase):
    def setUp(self):
        q.init("cpu")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "x.h5")
        try: q.save(self.path, "x", 1)
        except q.QuasarError as e: self.skipTest(str(e))
        os.remove(self.path)

    def test_types_of_h5py(self):
        data = {"f" + str(i): np.arange(6).reshape(2, 3).astype(t) for i, t in enumerate(
            ["i1", "u1", "i2", ">u2", "i4", ">i4", "u4", "i8", "u8", "f4", ">f8", "c8", "c16", "?"])}
        data |= {"half": np.array([0.5, 1.5], "f2"), "deep": np.arange(2**6).reshape((2,)*6), "none": np.zeros((0, 3))}
        with h5py.File(self.path, "w") as f:
            for name, x in data.items(): f[name] = x
            f.create_dataset("packed", data=np.arange(900).reshape(30, 30), chunks=True, compression="gzip")
        loaded = q.load(self.path)
        for name, x in data.items():
            got = np.asarray(q.getfield(loaded, name))
            np.testing.assert_array_equal(got, x, name)
            wanted = np.dtype("f4") if x.dtype == "f2" else x.dtype.newbyteorder("=")
            self.assertEqual(got.dtype, wanted, name)
        part = q.h5read(self.path, "packed", [3, 4], [2, 5])
        np.testing.assert_array_equal(np.asarray(part), np.arange(900).reshape(30, 30)[3:5, 4:9])

    def test_strings_and_numbers_of_h5py(self):
        with h5py.File(self.path, "w") as f:
            f["s"], f["many"], f["fixed"] = "héllo", ["a", "bb"], np.array([b"ab", b"c"])
            f["x"], f["n"], f["yes"], f["z"] = 3.5, 7, True, 1 + 2j
            f["large"] = np.uint64(2**63 + 1)
            f["s"].attrs["unit"] = "mm"
        loaded = q.load(self.path)
        self.assertEqual([loaded.s, loaded.x, loaded.n, loaded.yes, loaded.z], ["héllo", 3.5, 7, True, 1 + 2j])
        self.assertEqual(list(loaded.many) + list(loaded.fixed), ["a", "bb", "ab", "c"])
        self.assertEqual(int(np.asarray(loaded.large)[0]), 2**63 + 1)
        self.assertEqual(q.h5info(self.path, "s").attributes.unit, "mm")

    def test_h5py_reads_what_is_written(self):
        values = {"a": np.arange(6, dtype="f4").reshape(2, 3), "t": np.array([True, False]), "c": np.array([1 + 2j, 3]),
                  "i": np.arange(3, dtype="i8"), "u": np.arange(4, dtype="u1")}
        for name, x in values.items(): q.h5write(self.path, "/deep/" + name, x)
        q.h5write(self.path, "text", "yé")
        q.h5writeatt(self.path, "/deep/a", "scale", np.array([1.0, 2.0]))
        with h5py.File(self.path) as f:
            for name, x in values.items():
                np.testing.assert_array_equal(f["deep"][name][()], x)
                self.assertEqual(f["deep"][name].dtype, x.dtype)
            self.assertEqual(f["text"].asstr()[()], "yé")
            np.testing.assert_array_equal(f["deep/a"].attrs["scale"], [1, 2])

    def test_matlab(self):
        path = os.path.join(self.folder.name, "x.mat")
        write_matlab(path)
        names = ("matrix row column number text rows logical int8 complex cube empty no_text cell struct").split()
        m = q.load(path, *names)
        np.testing.assert_array_equal(np.asarray(m.matrix), [[0, 2, 4], [1, 3, 5]])
        np.testing.assert_array_equal(np.asarray(m.row), np.arange(4))
        np.testing.assert_array_equal(np.asarray(m.column), np.arange(4).reshape(4, 1))
        np.testing.assert_array_equal(np.asarray(m.cube), np.arange(24).reshape(4, 3, 2).transpose(2, 1, 0))
        np.testing.assert_array_equal(np.asarray(m.complex), [1 + 3j, 2 + 4j])
        self.assertEqual(np.asarray(m.int8).dtype, np.int8)
        self.assertEqual(np.asarray(m.logical).dtype, np.bool_)
        self.assertEqual(np.asarray(m.empty).shape, (0, 3))
        self.assertEqual([m.number, m.text, list(m.rows), m.no_text], [2.5, "héllo", ["abc", "def"], ""])
        self.assertEqual([list(m.cell), m.struct.p, m.struct.q], [[7, "hi"], 1, "ok"])
        with self.assertRaisesRegex(q.QuasarError, 'a sparse matrix in "sparse"'): q.load(path)
        with self.assertRaisesRegex(q.QuasarError, "only read"): q.h5write(path, "x", 1)

    def test_unsupported_types(self):
        with h5py.File(self.path, "w") as f:
            f["records"] = np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")])
            f["good"] = 1.0
            f["loop"] = h5py.SoftLink("/absent")
        with self.assertRaisesRegex(q.QuasarError, 'compounds in "records"'): q.load(self.path, "records")
        with self.assertRaisesRegex(q.QuasarError, '"loop"'): q.load(self.path, "loop")
        self.assertEqual(q.load(self.path, "good").good, 1)

    def test_groups_that_hold_themselves(self):
        with h5py.File(self.path, "w") as f:
            group = f.create_group("g")
            group["again"] = group
        with self.assertRaisesRegex(q.QuasarError, "without end"): q.load(self.path)

    def test_files_that_end_too_early(self):
        with h5py.File(self.path, "w") as f: f["a"] = np.arange(20.0)
        with open(self.path, "rb") as f: good = f.read()
        for n in range(0, len(good), 97):
            with open(self.path, "wb") as f: f.write(good[:n])
            with self.assertRaisesRegex(q.QuasarError, "^load: |h5read: "):
                q.load(self.path)
                q.h5read(self.path, "a")


if __name__ == "__main__":
    unittest.main()
