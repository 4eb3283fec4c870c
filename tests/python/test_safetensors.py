"""Weights in safetensors files: what is written, read by the format's description alone; and files that are damaged."""
import json
import os
import random
import struct
import tempfile
import unittest

import pyquasar as q
from optional import library

np = library("numpy")


def packed(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


GOOD = packed({"a.w": tensor("F32", [2, 1], 0, 8), "n": tensor("I64", [], 8, 16), "__metadata__": {"by": "hand"}},
              struct.pack("<ffq", 1.5, -2, 7))
BAD = {
    "its header ends beyond the file": [GOOD[:4], GOOD[:40], struct.pack("<Q", 1 << 60) + GOOD[8:]],
    "the place is not in the file": [GOOD[:-1], packed({"a": tensor("F32", [2], 4, 0)}, bytes(8)),
                                     packed({"a": tensor("F32", [2], 0, 1e300)}, bytes(8)),
                                     packed({"a": tensor("F32", [2], -8, 0)}, bytes(8)),
                                     packed({"a": {"dtype": "F32", "shape": [2]}}, bytes(8))],
    "bytes follow that belong to nothing": [GOOD + b"x", packed({}, b"x")],
    "others share the elements": [packed({"a": tensor("F32", [2], 0, 8), "b": tensor("F32", [2], 4, 12)}, bytes(12))],
    "bytes lie unused": [packed({"a": tensor("F32", [1], 0, 4), "b": tensor("F32", [1], 8, 12)}, bytes(12))],
    "shape and place do not agree": [packed({"a": tensor("F32", [3], 0, 8)}, bytes(8))],
    "the shape is too large": [packed({"a": tensor("F32", [1 << 40, 1 << 40], 0, 8)}, bytes(8))],
    "there is no shape": [packed({"a": tensor("F32", [[2]], 0, 8)}, bytes(8)),
                          packed({"a": tensor("F32", [2.5], 0, 8)}, bytes(8)),
                          packed({"a": tensor("F32", [1]*9, 0, 4)}, bytes(4))],
    "which are not supported": [packed({"a": tensor("F8_E4M3", [8], 0, 8)}, bytes(8))],
    "there is no element type": [packed({"a": tensor(4, [2], 0, 8)}, bytes(8))],
    "there is no description": [packed({"a": 3})],
    "its header is no object": [packed([])],
    "its metadata are no object": [packed({"__metadata__": "x"})],
    "expected": [packed(b"{\"a\": ")],
}


@unittest.skipUnless(np, "numpy is not here")
class Weights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        q.init("cpu")
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "x.safetensors")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def load(self, data):
        with open(self.path, "wb") as f:
            f.write(data)
        return q.load(self.path)

    def test_reading(self):
        w = self.load(GOOD)
        self.assertEqual(np.asarray(q.getfield(w, "a.w")).tolist(), [[1.5], [-2.0]])
        self.assertEqual(w.n, 7)
        self.assertEqual(q.getfield(w, "__metadata__").by, "hand")

    def test_writing(self):
        types = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()
        arrays = {t: np.arange(6).reshape(2, 3, 1).astype(t) for t in types}
        q.save(self.path, *[x for pair in arrays.items() for x in pair])
        with open(self.path, "rb") as f:
            data = f.read()
        n = struct.unpack("<Q", data[:8])[0]
        header, back = json.loads(data[8:8+n]), q.load(self.path)
        self.assertEqual(n % 8, 0)
        self.assertEqual(list(header), list(arrays))
        for name, a in arrays.items():
            begin, end = header[name]["data_offsets"]
            self.assertEqual(header[name]["shape"], [2, 3, 1])
            self.assertEqual(data[8+n+begin:8+n+end], a.tobytes())
            got = np.asarray(q.getfield(back, name))
            self.assertEqual((got.dtype, got.tolist()), (a.dtype, a.tolist()))

    def test_what_cannot_be_written(self):
        for values in [("a",), ("a", "text"), ("a", 1.0, "a", 2.0), ("a", np.zeros(1, complex)), (1.0, 2.0)]:
            with self.assertRaises(q.QuasarError):
                q.save(self.path, *values)

    def test_names_and_numbers_that_do_not_fit(self):
        for ending in ".safetensors", ".npz":
            path = os.path.join(self.folder.name, "x" + ending)
            field = q.object()
            q.setfield(field, "a\0b", 1.0)
            for values in ("a\0b", 1.0), (field,):
                with self.assertRaisesRegex(q.QuasarError, "save: a name must not hold a NUL byte"):
                    q.save(path, *values)
        many = q.object()
        for k in range(65536):
            q.setfield(many, "f%d" % k, 1.0)
        with self.assertRaisesRegex(q.QuasarError, "at most 65535 arrays"):
            q.save(os.path.join(self.folder.name, "many.npz"), many)

    def test_damaged_headers_of_numpy(self):
        path = os.path.join(self.folder.name, "x.npy")
        begun = "{'shape': (3,), 'fortran_order': False, 'descr': '"
        for header in begun, begun + "<f", "{'descr': '<f4', 'fortran_order': False, 'shape': (3":
            with open(path, "wb") as f:
                f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(12))
            with self.assertRaises(q.QuasarError):
                q.load(path)
        empty = "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 1099511627776, 1099511627776)}"
        with open(path, "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(empty)) + empty.encode())
        with self.assertRaisesRegex(q.QuasarMemoryError, "1099511627776x1099511627776 elements"):  # as NumPy
            q.load(path)

    def test_damaged_files(self):
        for sentence, files in BAD.items():
            for k, data in enumerate(files):
                with self.subTest(sentence, file=k):
                    with self.assertRaisesRegex(q.QuasarError, sentence):
                        self.load(data)

    def test_bytes_at_random(self):
        r, read = random.Random(1), 0
        for _ in range(3000):
            data = bytearray(GOOD)
            for _ in range(r.randint(1, 3)):
                data[r.randrange(len(data))] = r.choice((0, 1, 44, 48, 57, 91, 93, 123, 125, 255, r.randrange(256)))
            if r.random() < 0.2:
                del data[r.randrange(len(data)):]
            try:
                self.load(bytes(data))
                read += 1
            except q.QuasarError:
                pass
        self.assertGreater(read, 100) # what changed was an element, or a name
        self.assertLess(read, 2900)


if __name__ == "__main__":
    unittest.main()
