"""Files that imaging and signal programs exchange: what is written is read by SciPy, Python's wave, OpenCV and Pillow,
and what they write is read here.  Damaged files are errors."""
import os
import struct
import tempfile
import unittest
import wave
import zlib

import pyquasar as q
from optional import library

np = library("numpy")
wavfile, sio, sparse = library("scipy.io.wavfile"), library("scipy.io"), library("scipy.sparse")
tifffile = library("tifffile")
cv2, pd, pil = library("cv2"), library("pandas"), library("PIL.Image")


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        q.init("cpu")
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name, data=None):
        path = os.path.join(self.folder.name, name)
        if data is not None:
            with open(path, "wb") as f:
                f.write(data)
        return path

    def refused(self, data, message, name, read):
        """The reader says `message` and the name of the file."""
        path = self.path(name, data)
        with self.assertRaises(q.QuasarError) as e:
            read(path)
        self.assertIn(message, str(e.exception))
        self.assertIn(path, str(e.exception))

    def survives(self, data, name, read):
        """Every truncation, and every byte changed, gives a value or an error."""
        for i in range(0, len(data), max(1, len(data)//300)):
            flipped = bytes([data[i] ^ 1 << i % 8])
            for bad in data[:i], data[:i] + flipped + data[i + 1:], data[:i] + b"\xff" + data[i + 1:]:
                path = self.path(name, bad)
                try:
                    read(path)
                except q.QuasarError as e:
                    self.assertIn(path, str(e))


def wav(bits, channels, data, form=1, rate=8000, extra=b"", frame=None):
    frame = channels*((bits + 7)//8) if frame is None else frame
    fmt = struct.pack("<HHIIHH", form, channels, rate, rate*frame, frame, bits) + extra
    chunks = b"fmt " + struct.pack("<I", len(fmt)) + fmt + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


@unittest.skipUnless(np, "numpy is not here")
class Sound(Folder):
    def signal(self, channels):
        return np.random.default_rng(channels).uniform(-1, 1, (57, channels))

    @unittest.skipUnless(wavfile, "scipy is not here")
    def test_scipy_reads_what_is_written(self):
        for channels in 1, 2, 3, 6:
            x = self.signal(channels)
            for bits, kind in (8, np.uint8), (16, np.int16), (24, np.int32), (32, np.float32), (64, np.float64):
                path = self.path("x.wav")
                q.audiowrite(path, x, 22050, bits)
                rate, y = wavfile.read(path)
                self.assertEqual((rate, y.dtype, y.reshape(57, channels).shape), (22050, kind, x.shape))
                y = y.reshape(x.shape)
                if bits <= 24:
                    want = np.clip(np.floor(x*2.0**(bits - 1) + 0.5), -2**(bits - 1), 2**(bits - 1) - 1)
                    y = y.astype(int) - 128 if bits == 8 else y >> 8 if bits == 24 else y
                else:
                    want = x.astype(kind)
                np.testing.assert_array_equal(y, want)
            for kind in np.uint8, np.int16, np.int32:
                n = (x*100 + 128).astype(kind)
                q.audiowrite(path, n, 8000)
                np.testing.assert_array_equal(wavfile.read(path)[1].reshape(n.shape), n)
                np.testing.assert_array_equal(np.asarray(q.audioread(path, "native")), n)

    @unittest.skipUnless(wavfile, "scipy is not here")
    def test_what_scipy_writes_is_read(self):
        for kind, zero, full in ((np.uint8, 128, 128), (np.int16, 0, 2**15), (np.int32, 0, 2**31), (np.float32, 0, 1),
                                 (np.float64, 0, 1)):
            x = self.signal(2)
            y = x.astype(kind) if full == 1 else np.floor(x*(full - 1) + zero).astype(kind)
            path = self.path("y.wav")
            wavfile.write(path, 48000, y)
            z = np.asarray(q.audioread(path))
            self.assertEqual(z.dtype, np.float64 if kind in (np.int32, np.float64) else np.float32)
            np.testing.assert_array_equal(z, (y.astype(float) - zero)/full)
            self.assertEqual(np.asarray(q.audioread(path, "native")).dtype, kind)

    def test_wave(self):
        path = self.path("w.wav")
        q.audiowrite(path, [0.0, 0.5, -1.0, 1.0], 11025)
        with wave.open(path) as w:
            self.assertEqual((w.getnchannels(), w.getsampwidth(), w.getframerate(), w.getnframes()), (1, 2, 11025, 4))
            self.assertEqual(w.readframes(4), struct.pack("<4h", 0, 16384, -32768, 32767))
        for width in 1, 2, 3, 4:
            raw = bytes(range(3*2*width))
            with wave.open(path, "wb") as w:
                w.setnchannels(2), w.setsampwidth(width), w.setframerate(8000), w.writeframes(raw)
            n = [int.from_bytes(raw[i:i + width], "little", signed=width > 1) for i in range(0, len(raw), width)]
            want = (np.array(n, float) - 128*(width == 1))/2**(8*width - 1)
            np.testing.assert_array_equal(np.asarray(q.audioread(path)), want.reshape(3, 2))

    def test_extensible_and_sizes_of_pipes(self):
        tail = b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
        extra = struct.pack("<HHIH", 22, 12, 3, 1) + tail
        data = struct.pack("<4h", 16, -16, 32752, -32768)
        for form, more in (1, b""), (0xFFFE, extra):
            path = self.path("e.wav", wav(16, 2, data, form, extra=more))
            np.testing.assert_array_equal(np.asarray(q.audioread(path, "native")), [[16, -16], [32752, -32768]])
        good = wav(16, 2, data)
        pipe = good.replace(b"data\x08\0\0\0", b"data\xff\xff\xff\xff")
        self.assertEqual(np.asarray(q.audioread(self.path("p.wav", pipe))).shape, (2, 2))
        listed = good.replace(b"data", b"LIST\3\0\0\0abc\0data")
        self.assertEqual(np.asarray(q.audioread(self.path("l.wav", listed))).shape, (2, 2))

    def test_damage(self):
        good = wav(16, 2, bytes(24))
        for bad, message in {
                b"": "is no WAV file", b"RIFF1234WAV ": "is no WAV file",
                b"RF64" + good[4:]: "is an RF64 file",
                good[:-1]: "it ends before its last sample", good[:40]: "it has no samples",
                good[:12]: "no format chunk",
                good[:20]: "a chunk ends beyond the file", wav(16, 2, bytes(6)): "it ends within a frame",
                wav(16, 0, bytes(8)): "0 channels", wav(33, 1, bytes(8)): "33 bits",
                wav(16, 2, bytes(8), frame=3): "3 bytes",
                wav(8, 1, bytes(8), 7): "format 7, mu-law", wav(16, 1, bytes(8), 3): "16 bits",
                wav(16, 1, b"", rate=0): "0 Hz",
                wav(16, 2, bytes(8), 0xFFFE): "its format chunk is too short",
                wav(16, 2, bytes(8), 0xFFFE, extra=bytes(24)): "format 0, unknown",
                b"RIFF1234WAVEdata\4\0\0\0abcd": "its samples come before their format"}.items():
            self.refused(bad, message, "bad.wav", q.audioread)
            self.refused(bad, message, "bad.wav", q.audioinfo)
        self.survives(good, "bad.wav", q.audioread)

    def test_arguments(self):
        path = self.path("a.wav")
        half = np.array([0.5])
        for arguments, message in (
                ((self.path("a.mp3"), half, 8000), "must end in .wav"), ((path, half, 0), "rate must be"),
                ((path, half, 8000, 12), "bits must be"), ((path, half*1j, 8000), "x must be real"),
                ((path, half*np.nan, 8000), "x has nan")):
            with self.assertRaisesRegex(q.QuasarError, message):
                q.audiowrite(*arguments)
        for x, message in (np.zeros(3, np.uint16), "uint8, int16 or int"), (np.zeros((2, 2, 2)), "3 dimensions"), \
                (np.zeros((4, 0)), "1 to"):
            with self.assertRaisesRegex(q.QuasarError, message):
                q.audiowrite(path, x, 8000)
        with self.assertRaisesRegex(q.QuasarError, "is written with 16 bits"):
            q.audiowrite(path, np.zeros(3, np.int16), 8000, 24)
        with self.assertWarnsRegex(q.QuasarWarning, "2 of 3 samples are outside"):
            q.audiowrite(path, [0.5, 1.5, -2], 8000)


TYPES = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64 complex64 complex128 bool".split()


def element(type, data, order="<", small=False):
    if small:
        return struct.pack(order + "I", len(data) << 16 | type) + data + bytes(4 - len(data))
    return struct.pack(order + "II", type, len(data)) + data + bytes(-len(data) % 8)


def matrix(kind, dims, name, contents, order="<", flags=0):
    head = element(6, struct.pack(order + "II", kind | flags, 0), order)
    extents = element(5, struct.pack(f"{order}{len(dims)}i", *dims), order)
    return element(14, head + extents + element(1, name, order, 1 <= len(name) <= 4) + contents, order)


def mat(*elements, order="<"):
    text = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8)
    return text + struct.pack(order + "H", 0x100) + (b"IM" if order == "<" else b"MI") + b"".join(elements)


def doubles(*x, order="<"):
    return element(9, struct.pack(f"{order}{len(x)}d", *x), order)


@unittest.skipUnless(np, "numpy is not here")
class Mat(Folder):
    def arrays(self, kind):
        x = np.random.default_rng(3).integers(0, 2 if kind == "bool" else 100, (4, 3, 5)).astype(kind)
        x = x + 1j*x[::-1] if kind.startswith("complex") else x
        return {"v": x[0, 0], "m": x[0], "t": x[:, :1, 0], "c": x, "e": x[:, :0, 0]}

    @unittest.skipUnless(sio, "scipy is not here")
    def test_arrays_through_scipy(self):
        for kind in TYPES:
            want, path = {k: v.astype(kind) for k, v in self.arrays(kind).items()}, self.path("s.mat")
            for compressed in False, True:
                sio.savemat(path, want, do_compression=compressed)
                got = q.load(path)
                for name, x in want.items():
                    y = np.asarray(getattr(got, name))
                    self.assertEqual((y.dtype, y.shape), (x.dtype, x.shape), (kind, name))
                    np.testing.assert_array_equal(y, x)
            q.save(path, *(v for pair in want.items() for v in pair))
            got = sio.loadmat(path)
            for name, x in want.items():
                stored = np.uint8 if kind == "bool" else x.dtype
                self.assertEqual((got[name].dtype, got[name].shape), (stored, np.atleast_2d(x).shape))
                np.testing.assert_array_equal(got[name], np.atleast_2d(x))

    @unittest.skipUnless(sio, "scipy is not here")
    def test_values_through_scipy(self):
        path = self.path("v.mat")
        cell = np.empty((2, 2), object)
        cell[:] = [[1.5, "ab"], [np.eye(2), "\u00e9\u20ac"]]
        sio.savemat(path, {"n": 2.5, "b": True, "z": 1 + 2j, "s": "text", "empty": "", "rows": np.array(["ab", "c"]),
                           "cell": cell, "o": {"x": 3, "inner": {"y": [1.0, 2.0]}},
                           "list": np.array([(1.0, "p"), (2.0, "q")], dtype=[("a", object), ("b", object)])})
        got = q.load(path)
        self.assertEqual((got.n, got.b, got.z, got.s, got.empty), (2.5, True, 1 + 2j, "text", ""))
        self.assertEqual(list(got.rows), ["ab", "c "])
        self.assertEqual((got.cell[0, 0], got.cell[0, 1], got.cell[1, 1]), (1.5, "ab", "\u00e9\u20ac"))
        np.testing.assert_array_equal(np.asarray(got.o.inner.y), [1, 2])
        self.assertEqual([(x.a, x.b) for x in got.list], [(1, "p"), (2, "q")])
        again = self.path("again.mat")
        q.save(again, got)
        back = sio.loadmat(again, simplify_cells=True)
        self.assertEqual((back["n"], back["b"], back["z"], back["s"]), (2.5, True, 1 + 2j, "text"))
        self.assertEqual((back["cell"][1, 0].tolist(), back["cell"][1, 1]), ([[1, 0], [0, 1]], "\u00e9\u20ac"))
        self.assertEqual((back["o"]["x"], list(back["o"]["inner"]["y"]), back["list"][1]["b"]), (3, [1, 2], "q"))

    def test_characters_beyond_16_bits(self):  # SciPy counts characters, MATLAB units of UTF-16
        q.save(self.path("u.mat"), "s", "a\U0001f600")
        self.assertEqual(q.load(self.path("u.mat")).s, "a\U0001f600")

    def test_by_hand(self):
        for order in "<>":
            data = mat(matrix(6, (2, 2), b"m", doubles(1, 2, 3, 4, order=order), order),
                       matrix(6, (1, 3), b"small", element(2, b"\1\2\3", order, True), order),
                       matrix(4, (1, 2), b"s", element(4, struct.pack(order + "2H", 0x41, 0xE9), order), order),
                       matrix(9, (1, 1), b"t", element(2, b"\7", order, True), order, 0x200), order=order)
            got = q.load(self.path("h.mat", data))
            np.testing.assert_array_equal(np.asarray(got.m), [[1, 3], [2, 4]])
            np.testing.assert_array_equal(np.asarray(got.small), [1, 2, 3])
            self.assertEqual((got.s, got.t), ("A\u00e9", True))

    def test_damage(self):
        good = matrix(6, (1, 2), b"x", doubles(1, 2))
        packed = zlib.compress(good)
        for data, message in {
                b"": "is no MAT-file", b"x"*200: "is no MAT-file", mat(good[:-1]): "ends before its last element",
                mat(element(15, packed)[:-9]): "damaged", mat(element(15, packed[:-8])): "its compressed data",
                mat(element(15, zlib.compress(struct.pack("<II", 14, 1 << 31)))): "an impossible size",
                mat(element(9, bytes(8))): "no matrix",
                mat(matrix(6, (1, -2), b"x", doubles(1))): "an extent is negative",
                mat(matrix(6, (1, 3), b"x", doubles(1, 2))): "do not agree",
                mat(matrix(6, (2**31 - 1,)*3, b"x", doubles(1))): "its extents are too large",
                mat(matrix(6, (2,)*9, b"x", doubles(1))): "more than 8 dimensions",
                mat(matrix(6, (1,), b"x", doubles(1))): "no extents",
                mat(matrix(99, (1, 1), b"x", b"")): "a class of matrices",
                mat(matrix(6, (1, 1), b"x", element(77, bytes(8)))): "a type of numbers",
                mat(matrix(1, (1000, 1000), b"x", good)): "ends before its last element",
                mat(matrix(2, (1, 1), b"x", element(5, bytes(4), small=True) + element(1, b""))): "names of its fields",
                mat(matrix(2, (30000,)*2, b"x", element(5, b"\4\0\0\0", small=True) + element(1, b""))): "too large",
                mat(matrix(16, (1, 1), b"f", good)): "a function handle in \"f\"",
                mat(matrix(5, (1, 1), b"x", b"")): "a sparse",
                b"\x89HDF\r\n\x1a\n" + bytes(99): "failed: "}.items():
            self.refused(data, message, "bad.mat", q.load)
        deep = good
        for _ in range(300):
            deep = matrix(1, (1, 1), b"x", deep)
        self.refused(mat(deep), "nested too deeply", "bad.mat", q.load)
        path = self.path("some.mat", mat(good, matrix(16, (1, 1), b"f", b"")))
        np.testing.assert_array_equal(np.asarray(q.load(path, "x").x), [1, 2])
        self.refused(mat(good), "has no variable \"y\"", "bad.mat", lambda p: q.load(p, "y"))
        path = self.path("whole.mat")
        q.save(path, "a", np.eye(3), "b", "text", "c", q.cell(2, 1))
        with open(path, "rb") as f:
            whole = f.read()
        self.survives(whole, "bad.mat", q.load)
        self.survives(mat(element(15, packed), good), "bad.mat", q.load)

    def test_names(self):
        path = self.path("n.mat")
        for name in "1a", "a.b", "", "x"*64, "\u00e9":
            with self.assertRaisesRegex(q.QuasarError, "is no name of MATLAB"):
                q.save(path, name, 1)
        with self.assertRaisesRegex(q.QuasarError, "holds no function"):
            q.save(path, "f", q.sin)
        with self.assertRaisesRegex(q.QuasarError, "stands there twice"):
            q.save(path, "a", 1, "a", 2)
        np.savez(self.path("z.npz"), a=1, b=2)
        self.assertEqual(q.load(self.path("z.npz"), "b").b, 2)


class Tables(Folder):
    def read(self, text, *more):
        return q.readtable(self.path("t.csv", text.encode() if isinstance(text, str) else text), *more)

    @unittest.skipUnless(np, "numpy is not here")
    def test_columns(self):
        t = self.read("\ufeffname, size ,note,id,ok\r\n\"a, b\",1.5,,9007199254740993,true\r\n\r\n"
                      "\"say \"\"x\"\"\n2\",NA,y,-1,false\r\n")
        self.assertEqual(list(t.name), ["a, b", "say \"x\"\n2"])
        np.testing.assert_array_equal(np.asarray(t.size), [1.5, np.nan])
        self.assertEqual(list(t.note), ["", "y"])
        self.assertEqual((np.asarray(t.id).dtype, np.asarray(t.id).tolist()), (np.int64, [9007199254740993, -1]))
        self.assertEqual((np.asarray(t.ok).dtype, np.asarray(t.ok).tolist()), (bool, [True, False]))
        for text in "a;b\n1,5;2", "a\tb\n1,5\t2", "a|b\n1,5|2":
            t = self.read(text)
            self.assertEqual((list(t.a), np.asarray(t.b).item()), (["1,5"], 2))
        t = self.read("a b:c\n1:2", ":")
        self.assertEqual(np.asarray(q.getfield(t, "a b")).item(), 1)
        t = self.read("a,a,,a\n1,2,3,123456789012345678901")
        self.assertEqual([np.asarray(x).item() for x in (t.a, t.a_1, t.column2)], [1, 2, 3])
        self.assertEqual(list(t.a_2), ["123456789012345678901"])
        self.assertEqual(np.asarray(self.read("a,b\n").a).shape, (0,))

    def test_damage(self):
        for text, message in {"": "is empty", "\n\n": "is empty", "1,2\n3,4": "has only numbers and no names",
                              "a,b\n1,2\n3": "line 3 has 1 fields, the heading has 2",
                              "a\n\"x": "line 2: a quote has no end",
                              "a,b\n\"x\"y,1": "\"y\" follows the end of a quote", b"a\0b": "has a NUL byte"}.items():
            self.refused(text.encode() if isinstance(text, str) else text, message, "bad.csv", q.readtable)
        with self.assertRaisesRegex(q.QuasarError, "separator must be one character"):
            self.read("a,b\n1,2", ", ")

    @unittest.skipUnless(np and pd, "numpy and pandas are not here")
    def test_pandas(self):
        frame = pd.DataFrame({"x": [0.1, np.nan, 1e300, 1/3], "n": [1, -2, 3, 2**60 + 1],
                              "s": ["a", "b,\"c\"", "", " d"],
                              "f": np.array([0.1, 1/3, 1e-20, 7], np.float32), "ok": [True, False, True, True]})
        path = self.path("p.csv")
        frame.to_csv(path, index=False)
        t = q.readtable(path)
        for name in "x", "n", "ok":
            np.testing.assert_array_equal(np.asarray(getattr(t, name)), frame[name].to_numpy())
        self.assertEqual(list(t.s), list(frame.s))
        again = pd.DataFrame({name: getattr(t, name) for name in q.fieldnames(t)})
        self.assertEqual((list(again), list(again.s)), (list(frame), list(frame.s)))
        self.assertTrue(again[["x", "n", "ok"]].equals(frame[["x", "n", "ok"]]))
        q.writetable(q.value(dict(frame)), path)
        back = pd.read_csv(path, keep_default_na=True).fillna({"s": ""})
        np.testing.assert_array_equal(back.x, frame.x)
        np.testing.assert_array_equal(back.n, frame.n)
        np.testing.assert_array_equal(back.f.astype(np.float32), frame.f)
        self.assertEqual((list(back.s), list(back.ok)), (list(frame.s), list(frame.ok)))

    @unittest.skipUnless(np, "numpy is not here")
    def test_writing(self):
        path = self.path("w.csv")
        q.writetable(q.value({"only": np.array([1.0, np.nan, 3])}), path)
        np.testing.assert_array_equal(np.asarray(q.readtable(path).only), [1, np.nan, 3])
        for t, message in (({"a": np.zeros(2), "b": np.zeros(3)}, "\"b\" has 3 rows, the columns before have 2"),
                           ({"a": np.zeros((2, 2))}, "\"a\" must be a vec"), ({}, "a field per column"),
                           ({"a": np.array([1j])}, "a value of type")):
            with self.assertRaisesRegex(q.QuasarError, message):
                q.writetable(q.value(t), path)


@unittest.skipUnless(np, "numpy is not here")
class Images(Folder):
    def test_hdr(self):
        rng = np.random.default_rng(2)
        for width in 1, 7, 8, 300:
            x = np.exp(rng.uniform(-30, 30, (5, width, 3))).astype(np.float32)
            x[1] = 0.75
            x[2, :, 1] = 0
            path = self.path("x.hdr")
            q.imwrite(path, x)
            y = np.asarray(q.imread(path))
            self.assertEqual((y.dtype, y.shape), (np.float32, x.shape))
            self.assertLessEqual(float(np.max(np.abs(y - x)/x.max(2, keepdims=True))), 1/256)
            q.imwrite(path, y)
            np.testing.assert_array_equal(np.asarray(q.imread(path)), y)
            if cv2 is not None:
                np.testing.assert_array_equal(cv2.imread(path, cv2.IMREAD_UNCHANGED)[:, :, ::-1], y)
                cv2.imwrite(path, np.ascontiguousarray(x[:, :, ::-1]))
                y = cv2.imread(path, cv2.IMREAD_UNCHANGED)[:, :, ::-1]
                np.testing.assert_array_equal(np.asarray(q.imread(path)), y)
        q.imwrite(path, np.array([[1, -1, np.nan, np.inf]], np.float32))
        y = np.asarray(q.imread(path))[0, :, 0]
        np.testing.assert_array_equal(y, [1, 0, 0, 255*2.0**119])

    def test_hdr_by_hand_and_damage(self):
        head = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n"
        old = head + b"+Y 1 -X 4\n" + bytes([128, 64, 0, 129, 1, 1, 1, 2, 255, 0, 0, 128])
        y = np.asarray(q.imread(self.path("o.hdr", old)))
        np.testing.assert_array_equal(y[0, :, 0], [255/256, 1, 1, 1])
        for data, message in {head + b"-Y 1 +X 2\n1234567": "before its last pixel", b"#?RADIANCE": "its header",
                              head + b"-Y -1 +X 3\n": "damaged", head + b"-Y 99999999 +X 99999999\n": "it claims",
                              head + b"+X 2 -Y 1\n12341234": "order of pixels", head + b"-Y a\n": "its extents",
                              head.replace(b"rgbe", b"xyze") + b"-Y 1 +X 1\n1234": "32-bit_rle_xyze",
                              head + b"-Y 1 +X 9\n\2\2\0\x08": "the code of a row"}.items():
            self.refused(data, message, "bad.hdr", q.imread)
        q.imwrite(self.path("g.hdr"), np.ones((3, 20), np.float32))
        with open(self.path("g.hdr"), "rb") as f:
            self.survives(f.read(), "bad.hdr", q.imread)
        with self.assertRaisesRegex(q.QuasarError, "an .hdr file has floats"):
            q.imwrite(self.path("g.hdr"), np.ones((3, 20)), 8)

    def test_gif(self):
        rng = np.random.default_rng(4)
        few = rng.integers(0, 256, (200, 3))[rng.integers(0, 200, (37, 41))]
        gray = rng.integers(0, 256, (37, 41))
        flat = np.zeros((500, 400))
        for x in few, gray, flat, few[:1, :1], np.zeros((3, 2, 3)) + [1, 2, 3], rng.integers(0, 256, (300, 301)):
            path = self.path("x.gif")
            q.imwrite(path, x.astype(np.float32))
            np.testing.assert_array_equal(np.asarray(q.imread(path)), x)
            for reader in filter(None, (pil, cv2)):
                y = np.asarray(pil.open(path).convert("RGB")) if reader is pil else cv2.imread(path)[:, :, ::-1]
                np.testing.assert_array_equal(y, x if x.ndim == 3 else np.stack([x]*3, 2))

    def test_many_colours(self):
        y, x = np.mgrid[:120, :160]
        smooth = np.stack([x*255/159, y*255/119, (x + y)*255/278], 2).round().astype(np.float32)
        path = self.path("m.gif")
        q.imwrite(path, smooth)
        error = np.abs(np.asarray(q.imread(path)) - smooth)
        self.assertLess(error.mean(), 6)
        self.assertLess(error.max(), 40)

    def test_animation(self):
        frames = [np.full((5, 6), 10.0*i) for i in range(4)]
        path = self.path("a.gif")
        q.imwrite(path, frames_of(frames), 0.25)
        self.assertEqual((q.imfinfo(path).pages, q.imfinfo(path, 3).delay), (4, 0.25))
        for i, x in enumerate(frames):
            np.testing.assert_array_equal(np.asarray(q.imread(path, i)), x)
        with self.assertRaisesRegex(q.QuasarError, "no page 4"):
            q.imread(path, 4)
        with open(path, "rb") as f:
            data = f.read()
        self.assertIn(b"\x21\xf9\4\4\x19\0", data)
        self.assertIn(b"NETSCAPE2.0", data)
        self.survives(data, "bad.gif", lambda p: q.imread(p, 2))
        with self.assertRaisesRegex(q.QuasarError, "one size"):
            q.imwrite(path, frames_of([np.zeros((2, 2)), np.zeros((3, 2))]))
        with self.assertRaisesRegex(q.QuasarError, "delay must be"):
            q.imwrite(path, frames[0], -1)
        self.refused(data[:-1], "before its last block", "bad.gif", q.imread)
        self.refused(data[:10], "its header", "bad.gif", q.imread)
        self.refused(b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + bytes(6) + data[13:], "damaged",
                     "bad.gif", q.imread)

    def test_gif_disposal_and_interlace(self):
        def frame(x, y, w, h, pixels, disposal=0, clear=None, interlaced=False):
            bits = "".join(format(c, "03b")[::-1] for c in [4] + [v for p in pixels for v in (p, 4)] + [5])
            bits += "0"*(-len(bits) % 8)
            code = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
            control = bytes([disposal << 2 | (clear is not None), 0, 0, clear or 0])
            return (b"\x21\xf9\4" + control + b"\0\x2c" + struct.pack("<HHHHB", x, y, w, h, 0x40*interlaced) + b"\2"
                    + bytes([len(code)]) + code + b"\0")
        palette = bytes([0, 0, 0, 50, 50, 50, 100, 100, 100, 200, 0, 0])
        head = b"GIF89a" + struct.pack("<HHBBB", 2, 2, 0x81, 0, 0) + palette
        path = self.path("d.gif", head + frame(0, 0, 2, 2, [1, 1, 1, 1]) + frame(0, 0, 1, 1, [2], 2) +
                         frame(1, 1, 1, 1, [3], 3) + frame(0, 0, 2, 1, [0, 2], clear=0) + b"\x3b")
        want = [[[50, 50], [50, 50]], [[100, 50], [50, 50]], [[0, 50], [50, 200]], [[0, 100], [50, 50]]]
        for i, x in enumerate(want):
            np.testing.assert_array_equal(np.asarray(q.imread(path, i))[:, :, 0], x)
        tall = b"GIF89a" + struct.pack("<HHBBB", 1, 5, 0x81, 0, 0) + palette
        path = self.path("i.gif", tall + frame(0, 0, 1, 5, [0, 1, 2, 3, 0], interlaced=True) + b"\x3b")
        np.testing.assert_array_equal(np.asarray(q.imread(path))[:, 0, 0], [0, 200, 100, 0, 50])


@unittest.skipUnless(np, "numpy is not here")
class KindsOfImages(Folder):
    def png(self, depth, kind, width, rows, *chunks):
        def chunk(name, data):
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        head = struct.pack(">IIBBBBB", width, len(rows), depth, kind, 0, 0, 0)
        parts = [(b"IHDR", head), *chunks, (b"IDAT", zlib.compress(b"".join(b"\0" + r for r in rows))), (b"IEND", b"")]
        return self.path("x.png", b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*c) for c in parts))

    def test_png(self):
        palette = (b"PLTE", bytes(range(10, 100, 10)))
        rgb = np.arange(10, 100, 10).reshape(3, 3)
        for depth, rows in (8, [b"\0\1\2", b"\2\1\0"]), (2, [b"\x18", b"\x90"]), (4, [b"\x01\x20", b"\x21\0"]):
            for more in [], [(b"tRNS", b"\0\x80")]:
                x = np.asarray(q.imread(self.png(depth, 3, 3, rows, palette, *more)))
                np.testing.assert_array_equal(x, rgb[[[0, 1, 2], [2, 1, 0]]])
        deep = np.array([[0x102, 0x304], [0x506, 0xffff]])
        np.testing.assert_array_equal(np.asarray(q.imread(self.png(16, 0, 2, [b"\1\2\3\4", b"\5\6\xff\xff"]))), deep)
        np.testing.assert_array_equal(np.asarray(q.imread(self.png(16, 4, 1, [b"\1\2\3\4", b"\5\6\xff\xff"]))),
                                      deep[:, :1])
        np.testing.assert_array_equal(np.asarray(q.imread(self.png(1, 0, 3, [b"\xa0"]))), [[255, 0, 255]])
        x = np.random.default_rng(1).integers(0, 65536, (6, 5, 3))
        q.imwrite(self.path("d.png"), x.astype(np.float32), 16)
        if cv2 is not None:
            np.testing.assert_array_equal(cv2.imread(self.path("d.png"), cv2.IMREAD_UNCHANGED)[:, :, ::-1], x)
        with self.assertWarnsRegex(q.QuasarWarning, "uint16 values up to 65535 are saturated to 255"):
            q.imwrite(self.path("d.png"), np.array([[1, 65535]], np.uint16))

    @unittest.skipUnless(tifffile, "tifffile is not here")
    def test_tiff(self):
        x = (np.arange(60).reshape(6, 10)*1000).astype(np.uint16)
        path = self.path("x.tif")
        for kind in np.uint8, np.uint16, np.uint32:
            y = (x//(256 if kind is np.uint8 else 1)).astype(kind)
            tifffile.imwrite(path, y, photometric="miniswhite")
            np.testing.assert_array_equal(np.asarray(q.imread(path)), (np.iinfo(kind).max - y).astype(np.float32))
        many = np.stack([x + i for i in range(5)], 2)
        for photometric in "minisblack", "rgb":
            tifffile.imwrite(path, many, photometric=photometric, planarconfig="contig")
            np.testing.assert_array_equal(np.asarray(q.imread(path)), many)
        tifffile.imwrite(path, np.moveaxis(many, 2, 0), photometric="minisblack", planarconfig="separate")
        np.testing.assert_array_equal(np.asarray(q.imread(path)), many)
        small = (x//256).astype(np.uint8)
        for kind in np.int16, np.int32, np.float16, np.float32, np.float64:
            tifffile.imwrite(path, small.astype(kind) - 7, compression="zlib")
            np.testing.assert_array_equal(np.asarray(q.imread(path)), small.astype(np.float32) - 7)
        colors = np.repeat(np.arange(256, dtype=np.uint16)*257, 3).reshape(256, 3).T
        for orientation in 1, 3, 6:  # the order of the pixels, also where libtiff converts
            tag = [(274, "H", 1, orientation, True)]
            for more in {}, {"photometric": "palette", "colormap": colors}:
                tifffile.imwrite(path, small, extratags=tag, **more)
                y = np.asarray(q.imread(path))
                np.testing.assert_array_equal(y[:, :, 1] if y.ndim == 3 else y, small)
                self.assertEqual(q.imfinfo(path).orientation, orientation)

    def test_jpeg(self):
        x = np.random.default_rng(0).integers(0, 256, (64, 48, 3)).astype(np.float32)
        path = self.path("x.jpg")
        q.imwrite(path, x)
        self.assertEqual(q.imfinfo(path).orientation, 1)
        with open(path, "rb") as f:
            data = f.read()
        for order, head in ("<", b"II*\0"), (">", b"MM\0*"):
            tag = struct.pack(order + "IHHHIHH", 8, 1, 0x112, 3, 1, 6, 0)
            exif = b"Exif\0\0" + head + tag
            turned = data[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + data[2:]
            self.assertEqual(q.imfinfo(self.path("t.jpg", turned)).orientation, 6)
            for n in range(len(exif)):
                short = data[:2] + b"\xff\xe1" + struct.pack(">H", n + 2) + exif[:n] + data[2:]
                self.assertIn(q.imfinfo(self.path("t.jpg", short)).orientation, (1, 6))
            np.testing.assert_array_equal(np.asarray(q.imread(self.path("t.jpg", turned))), np.asarray(q.imread(path)))
        for n in len(data)//2, len(data) - 100:
            self.refused(data[:n], "Premature end of JPEG file", "t.jpg", q.imread)


    def test_auto_orient(self):
        gray = np.kron(np.arange(35).reshape(5, 7) * 7, np.ones((16, 16)))
        turned = [gray, np.fliplr(gray), np.rot90(gray, 2), np.flipud(gray), gray.T, np.rot90(gray, -1),
                  np.rot90(gray, 2).T, np.rot90(gray, 1)]
        jpeg = self.path("o.jpg")
        q.imwrite(jpeg, gray, "Quality", 100)
        with open(jpeg, "rb") as f: data = f.read()
        for k, want in enumerate(turned, 1):
            exif = b"Exif\0\0MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x112, 3, 1, k, 0, 0)
            path = self.path("o.jpg", data[:2] + struct.pack(">HH", 0xFFE1, len(exif) + 2) + exif + data[2:])
            got = np.asarray(q.imread(path, "AutoOrient", True))
            self.assertEqual(got.shape, want.shape)
            self.assertLessEqual(np.abs(got - want).max(), 2)
            np.testing.assert_array_equal(q.imread(path, "AutoOrient", False), q.imread(path))
        for arguments in (["Auto", True], ["AutoOrient"], ["AutoOrient", 5], ["AutoOrient", True, 1], [0, 5]):
            with self.assertRaisesRegex(q.QuasarError, "AutoOrient|option must be"): q.imread(jpeg, *arguments)

    @unittest.skipUnless(tifffile, "needs tifffile")
    def test_auto_orient_of_tiff(self):
        gray = np.arange(6, dtype="u1").reshape(2, 3)
        path = self.path("o.tif")
        tifffile.imwrite(path, gray, extratags=[(274, "H", 1, 6, True)])
        np.testing.assert_array_equal(q.imread(path, 0, "AutoOrient", True), np.rot90(gray, -1))

    @unittest.skipUnless(tifffile, "needs tifffile")
    def test_compression(self):
        x = np.arange(60).reshape(5, 4, 3)
        for name, code in {"lzw": "LZW", "none": "NONE", "Deflate": "ADOBE_DEFLATE", "PackBits": "PACKBITS"}.items():
            for bits in (8, 16, 32):
                path = self.path("c.tif")
                q.imwrite(path, x, "Compression", name, "BitDepth", bits)
                np.testing.assert_array_equal(q.imread(path), x)
                with tifffile.TiffFile(path) as t:
                    self.assertEqual([t.pages[0].compression.name, t.pages[0].bitspersample], [code, bits])
        for options, message in [(["Compression", "zip"], "compression must be"), (["Compression"], "has no value"),
                                 (["Compress", "lzw"], "the options are"),
                                 (["Quality", 5], "a .tif file has no Quality"),
                                 ([8, "BitDepth"], "a name with its value"), (["BitDepth", 12], "bits per sample")]:
            with self.assertRaisesRegex(q.QuasarError, message): q.imwrite(self.path("c.tif"), x, *options)


def frames_of(frames):
    cell = q.cell(len(frames))
    for i, x in enumerate(frames):
        cell[i] = x
    return cell


if __name__ == "__main__":
    unittest.main()
