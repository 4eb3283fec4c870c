#!/usr/bin/env python3
"""Executes code objects of AMD devices (gfx900 and gfx906, waves of 64 threads) in the memory of another process.

The fake driver (tests/support/driver/hip_driver.c) starts it and sends lines; each gets one that answers:

    load NUMBER ADDRESS SIZE          a code object          ok MAX_THREADS LOCAL_BYTES PARAMETER_BYTES
    run NUMBER GRID X Y Z SHARED AT   blocks, threads of one, bytes of shared memory, where the slots are     ok
    unload NUMBER                     no answer

It takes from the code object what AMD's loader takes: segments, .symtab, the descriptor and the metadata of the
kernel; registers are set up as the descriptor says.  LLVM's disassembler reads the machine code.  A wave is 64 lanes
of NumPy; the waves of a block run one after another from barrier to barrier.  An address that is not mapped ends the
process, as does an instruction that is not known here, or shared memory that nobody has written.

With FAKE_GPU_IDLE all code of a code object is disassembled, for newer devices, too, and a launch does nothing.
Quotients and roots are computed as wholes where the device needs several steps, so
these steps are not tested."""
import ctypes, glob, os, struct, sys

import numpy as np

U, I, F = np.uint32, np.int32, np.float32
UU, II, FF = np.uint64, np.int64, np.float64
TYPES = {"u": U, "i": I, "f": F, "U": UU, "I": II, "F": FF, "h": np.float16}
VCC, EXEC, M0, SCC_PLACE = 106, 126, 124, 128
SPECIAL = {"vcc": (VCC, 2), "vcc_lo": (VCC, 1), "vcc_hi": (VCC + 1, 1), "exec": (EXEC, 2), "exec_lo": (EXEC, 1),
           "exec_hi": (EXEC + 1, 1), "m0": (M0, 1), "flat_scratch": (102, 2), "flat_scratch_lo": (102, 1),
           "flat_scratch_hi": (103, 1)}
LANES = np.arange(64)
ONES = np.uint64(1) << np.arange(64, dtype=UU)
CODE, PACKET = 0x7ff000000000, 0x7fe000000000  # where code objects lie, and what a launch says of itself
libm = ctypes.CDLL("libm.so.6")
libm.fma.restype, libm.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3


class Unknown(Exception):
    pass


# -- the disassembler ------------------------------------------------------------------------------------------------
def open_llvm():
    for name in [os.environ.get("QUASAR_LLVM")] + [f"libLLVM{n}" for v in (19, 18, 17, 16)
                                                   for n in (f".so.{v}.1", f"-{v}.so.1", f"-{v}.so")]:
        try:
            lib = ctypes.CDLL(name) if name else None
        except OSError:
            continue
        if lib and hasattr(lib, "LLVMInitializeAMDGPUDisassembler"):
            for part in ("TargetInfo", "TargetMC", "Disassembler"):
                getattr(lib, "LLVMInitializeAMDGPU" + part)()
            lib.LLVMCreateDisasmCPU.restype = ctypes.c_void_p
            lib.LLVMCreateDisasmCPU.argtypes = [ctypes.c_char_p] * 2 + [ctypes.c_void_p, ctypes.c_int] + \
                [ctypes.c_void_p] * 2
            lib.LLVMDisasmInstruction.restype = ctypes.c_size_t
            lib.LLVMDisasmInstruction.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64,
                                                  ctypes.c_char_p, ctypes.c_size_t]
            return lib
    raise Unknown("no LLVM with a disassembler for AMD devices is here")


# -- memory ----------------------------------------------------------------------------------------------------------
class Memory:
    """That of the process, in which code objects have a place, too."""

    def __init__(self):
        self.file = os.open(f"/proc/{os.getppid()}/mem", os.O_RDWR)
        self.images = {}

    def read(self, at, n):
        for base, image in self.images.items():
            if base <= at and at + n <= base + len(image):
                return bytes(image[at - base:at - base + n])
        try:
            data = os.pread(self.file, n, at)
        except OSError:
            data = b""
        if len(data) != n:
            raise Unknown(f"{n} bytes are read at {at:#x}, which nobody owns")
        return data

    def write(self, at, data):
        try:
            done = os.pwrite(self.file, data, at)
        except OSError:
            done = 0
        if done != len(data):
            raise Unknown(f"{len(data)} bytes are written at {at:#x}, which nobody owns")

    def gather(self, at, words, size):
        """(words, n) of uint32: `words` elements of `size` bytes behind each address."""
        n = max(size, 4) * words if words > 1 else size
        low, high = int(at.min()), int(at.max()) + n
        if high - low <= 1 << 16:
            try:
                data = np.frombuffer(self.read(low, high - low), np.uint8)
                places = (at - UU(low)).astype(np.int64)[:, None] + np.arange(n)
                rows = data[places]
            except Unknown:
                rows = None
        else:
            rows = None
        if rows is None:
            rows = np.stack([np.frombuffer(self.read(int(a), n), np.uint8) for a in at])
        wide = np.zeros((len(at), 4 * words), np.uint8)
        wide[:, :n] = rows
        return wide.view(U).T

    def scatter(self, at, rows):
        """rows: bytes for each address; of equal ones the last wins."""
        for a, row in zip(at.tolist(), rows):
            self.write(a, row.tobytes())


# -- operands --------------------------------------------------------------------------------------------------------
def split_operands(text):
    out, depth, word = [], 0, ""
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c == "," and not depth:
            out.append(word.strip())
            word = ""
        else:
            word += c
    return out + [word.strip()] if word.strip() else out


def register(text):
    """('v' or 's', number, how many), or None."""
    if text in SPECIAL:
        return ("s", *SPECIAL[text])
    if text and text[0] in "vs" and text[1:].isdigit():
        return text[0], int(text[1:]), 1
    if text[:2] in ("v[", "s["):
        low, high = text[2:-1].split(":") if ":" in text else (text[2:-1],) * 2
        return text[0], int(low), int(high) - int(low) + 1
    return None


def constant(text, kind):
    """An inline constant or a literal, as an array of one."""
    wide, real = kind in "UIF", kind in "fF"
    if "." in text or text in ("inf",):
        return np.array([float(text)], FF if wide else F).view(TYPES[kind]) if real or not wide else \
            np.array([float(text)], FF).view(TYPES[kind])
    n = int(text, 0)
    literal = text.startswith("0x")
    if wide:
        if kind == "F" and literal:
            return np.array([n << 32], UU).view(FF)
        return np.array([n & (1 << 64) - 1], UU).view(TYPES[kind])
    return np.array([n & 0xffffffff], U).view(TYPES[kind])


SEL = {"BYTE_0": (0, 255), "BYTE_1": (8, 255), "BYTE_2": (16, 255), "BYTE_3": (24, 255), "WORD_0": (0, 65535),
       "WORD_1": (16, 65535)}


def source(text, kind, sel=None):
    """A function of a wave: the operand as an array of 64, or of 1."""
    negate = text.startswith("-") and (register(text[1:]) or text[1:2] in "|") is not None and \
        (bool(register(text[1:])) or text[1:2] == "|")
    if negate:
        text = text[1:]
    absolute = text.startswith("|")
    if absolute:
        text = text.strip("|")
    signed = text.startswith("sext(")
    if signed:
        text = text[5:-1]
    r, wide, t = register(text), kind in "UIF", TYPES[kind]
    if r is None:
        try:
            value = constant(text, kind)
        except ValueError:
            raise Unknown(f"operand {text}")
        get = lambda w: value
    elif r[0] == "v" and wide:
        get = lambda w, n=r[1]: (w.v[n].astype(UU) | w.v[n + 1].astype(UU) << UU(32)).view(t)
    elif r[0] == "v":
        get = lambda w, n=r[1]: w.v[n].view(t)
    elif wide:
        get = lambda w, n=r[1]: np.array([w.s[n] | w.s[n + 1] << 32], UU).view(t)
    else:
        get = lambda w, n=r[1]: np.array([w.s[n]], U).view(t)
    if sel and sel != "DWORD":
        shift, mask = SEL[sel]
        whole = source(text, "u")

        def get(w):
            x = whole(w) >> U(shift) & U(mask)
            if signed:
                x = x.astype(np.uint8).view(np.int8).astype(I).view(U) if mask == 255 else \
                    x.astype(np.uint16).view(np.int16).astype(I).view(U)
            return x.view(t)
    if not negate and not absolute:
        return get
    bits, sign = (UU, UU(1 << 63)) if wide else (U, U(1 << 31))

    def modified(w):
        x = get(w).view(bits)
        x = x & ~sign if absolute else x
        return (x ^ sign if negate else x).view(t)
    return modified


def half_source(text, sel):
    """The same for "h": float16, in the low bits of a register."""
    sign = text.startswith("-") and not text[1:2].isdigit()
    plain = text.lstrip("-" if sign else "").strip("|")
    if register(plain) is None:
        value = np.array([float(plain)], np.float16) if "." in plain else \
            np.array([int(plain, 0) & 0xffff], np.uint16).view(np.float16)
        return lambda w: value
    whole = source(plain, "u", sel)

    def get(w):
        x = whole(w).astype(np.uint16).view(np.float16)
        x = abs(x) if "|" in text else x
        return -x if sign else x
    return get


def to_vector(text, kind, extras):
    r = register(text)
    if not r or r[0] != "v":
        raise Unknown(f"result {text}")
    n, sel = r[1], extras.get("dst_sel", "DWORD")

    def put(w, x):
        if kind in "UIF":
            x = x.view(UU)
            np.copyto(w.v[n], (x & UU(0xffffffff)).astype(U), where=w.mask)
            np.copyto(w.v[n + 1], (x >> UU(32)).astype(U), where=w.mask)
            return
        x = x.view(np.uint16).astype(U) if kind == "h" else x.view(U)
        if sel != "DWORD":
            shift, mask = SEL[sel]
            x = (x & U(mask)) << U(shift)
            if extras.get("dst_unused") == "UNUSED_PRESERVE":
                x = x | w.v[n] & ~U(mask << shift & 0xffffffff)
        np.copyto(w.v[n], x, where=w.mask)
    return put


def put_scalar(w, n, count, value):
    w.s[n] = value & 0xffffffff
    if count == 2:
        w.s[n + 1] = value >> 32 & 0xffffffff
    if n in (EXEC, EXEC + 1):
        w.refresh()


def bits_of(truth):
    return int(ONES[np.broadcast_to(truth, 64)].sum(dtype=UU))


# -- vector instructions: (result, operands, what) ---------------------------------------------------------------
def shifted(t, f):
    bits = U(31) if t in "ui" else UU(63)
    return lambda n, x: f(x, (n & type(bits)(bits)).astype(x.dtype))


def fma32(a, b, c):
    return (a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)).astype(F)


def fma64(a, b, c):
    a, b, c = np.broadcast_arrays(a, b, c)
    return np.array([libm.fma(*x) for x in zip(a.tolist(), b.tolist(), c.tolist())], FF)


def to_int(t, low, high):
    return lambda x: np.where(np.isnan(x), 0, np.clip(np.trunc(x.astype(FF)), low, high)).astype(np.int64).astype(t)


def find_high(x):
    x = np.broadcast_to(x, 64)
    return np.array([32 - int(n).bit_length() if n else 0xffffffff for n in x.tolist()], U)


def find_high_signed(x):
    x = np.broadcast_to(x, 64)
    return find_high(np.where(x < 0, ~x, x).view(U))


def find_low(x):
    x = np.broadcast_to(x, 64)
    return np.array([(n & -n).bit_length() - 1 if n else 0xffffffff for n in x.tolist()], U)


def reverse(x):
    x = np.broadcast_to(x, 64)
    return np.array([int(f"{n:032b}"[::-1], 2) for n in x.tolist()], U)


def count(x):
    return np.array([bin(n).count("1") for n in np.broadcast_to(x, 64).tolist()], U)


def smaller(a, b):
    """The exact minimum of two floats: no number loses against a NaN, and -0 is the smaller zero."""
    m = np.fmin(a, b)
    return np.where((a == b) & np.signbit(a), a, np.where((a == b) & np.signbit(b), b, m)).astype(a.dtype)


def greater(a, b):
    m = np.fmax(a, b)
    return np.where((a == b) & ~np.signbit(a), a, np.where((a == b) & ~np.signbit(b), b, m)).astype(a.dtype)


def median(a, b, c):
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def half_of(x):
    return (x & U(0xffff)).astype(np.uint16).view(np.float16).astype(F)


def halves(f):
    """In float32 and rounded once more, which makes no difference to a sum or product."""
    return lambda *x: f(*[y.astype(F) for y in x]).astype(np.float16)


def field(x, at, n, signed):
    at, n = (at & U(31)).astype(UU), (n & U(31)).astype(UU)
    whole = x.view(U).astype(UU) >> at & (UU(1) << n) - UU(1)
    if signed:
        top = np.where(n > 0, whole >> (np.maximum(n, UU(1)) - UU(1)) & UU(1), UU(0))
        whole = np.where(top == 1, whole - (UU(1) << n), whole)
    return whole.astype(U)


def frexp_exponent(x):
    return np.where(np.isfinite(x) & (x != 0), np.frexp(x)[1], 0).astype(I)


def frexp_part(x):
    return np.where(np.isfinite(x), np.frexp(x)[0], x).astype(x.dtype)


def scaled(x, n):
    return np.ldexp(x, np.clip(n, -5000, 5000)).astype(x.dtype)


def classes(x, mask):
    neg, fin, tiny = np.signbit(x), np.isfinite(x), np.finfo(x.dtype).tiny
    zero, small = x == 0, (np.abs(x) < tiny) & (x != 0)
    is_a = [np.zeros_like(neg), np.isnan(x), np.isinf(x) & neg, fin & neg & ~zero & ~small, small & neg, zero & neg,
            zero & ~neg, small & ~neg, fin & ~neg & ~zero & ~small, np.isinf(x) & ~neg]
    truth = np.zeros(64, bool)
    for bit, is_one in enumerate(is_a):
        truth |= is_one & (mask >> U(bit) & U(1)).astype(bool)
    return truth


def high(a, b, t):
    return ((a.astype(t) * b.astype(t)) >> t(32)).astype(t).view(UU).astype(U)


OPS = {
    "v_mov_b32": ("u", "u", lambda a: a), "v_not_b32": ("u", "u", lambda a: ~a), "v_bfrev_b32": ("u", "u", reverse),
    "v_ffbh_u32": ("u", "u", find_high), "v_ffbl_b32": ("u", "u", find_low),
    "v_ffbh_i32": ("u", "i", find_high_signed),
    "v_add_f32": ("f", "ff", np.add), "v_sub_f32": ("f", "ff", np.subtract), "v_mul_f32": ("f", "ff", np.multiply),
    "v_subrev_f32": ("f", "ff", lambda a, b: b - a), "v_min_f32": ("f", "ff", smaller),
    "v_max_f32": ("f", "ff", greater), "v_fma_f32": ("f", "fff", fma32), "v_fma_f64": ("F", "FFF", fma64),
    "v_add_f64": ("F", "FF", np.add), "v_mul_f64": ("F", "FF", np.multiply), "v_min_f64": ("F", "FF", smaller),
    "v_max_f64": ("F", "FF", greater),
    "v_add_u32": ("u", "uu", np.add), "v_sub_u32": ("u", "uu", np.subtract),
    "v_subrev_u32": ("u", "uu", lambda a, b: b - a), "v_and_b32": ("u", "uu", np.bitwise_and),
    "v_or_b32": ("u", "uu", np.bitwise_or), "v_xor_b32": ("u", "uu", np.bitwise_xor),
    "v_xnor_b32": ("u", "uu", lambda a, b: ~(a ^ b)),
    "v_lshlrev_b32": ("u", "uu", shifted("u", np.left_shift)),
    "v_lshrrev_b32": ("u", "uu", shifted("u", np.right_shift)),
    "v_ashrrev_i32": ("i", "ui", shifted("i", np.right_shift)),
    "v_lshlrev_b64": ("U", "uU", lambda n, x: x << (n & U(63)).astype(UU)),
    "v_lshrrev_b64": ("U", "uU", lambda n, x: x >> (n & U(63)).astype(UU)),
    "v_ashrrev_i64": ("I", "uI", lambda n, x: x >> (n & U(63)).astype(II)),
    "v_min_u32": ("u", "uu", np.minimum), "v_max_u32": ("u", "uu", np.maximum), "v_min_i32": ("i", "ii", np.minimum),
    "v_max_i32": ("i", "ii", np.maximum), "v_min3_i32": ("i", "iii", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    "v_max3_i32": ("i", "iii", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "v_min3_u32": ("u", "uuu", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    "v_max3_u32": ("u", "uuu", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "v_min3_f32": ("f", "fff", lambda a, b, c: smaller(smaller(a, b), c)),
    "v_max3_f32": ("f", "fff", lambda a, b, c: greater(greater(a, b), c)),
    "v_med3_i32": ("i", "iii", median), "v_med3_u32": ("u", "uuu", median),
    "v_med3_f32": ("f", "fff", lambda a, b, c: greater(smaller(a, b), smaller(greater(a, b), c))),
    "v_mul_lo_u32": ("u", "uu", np.multiply), "v_mul_hi_u32": ("u", "uu", lambda a, b: high(a, b, UU)),
    "v_mul_hi_i32": ("u", "ii", lambda a, b: high(a, b, II)),
    "v_mul_u32_u24": ("u", "uu", lambda a, b: (a & U(0xffffff)) * (b & U(0xffffff))),
    "v_mul_i32_i24": ("i", "ii", lambda a, b: (a << I(8) >> I(8)) * (b << I(8) >> I(8))),
    "v_mul_hi_u32_u24": ("u", "uu", lambda a, b: high(a & U(0xffffff), b & U(0xffffff), UU)),
    "v_mad_u32_u24": ("u", "uuu", lambda a, b, c: (a & U(0xffffff)) * (b & U(0xffffff)) + c),
    "v_mad_i32_i24": ("i", "iii", lambda a, b, c: (a << I(8) >> I(8)) * (b << I(8) >> I(8)) + c),
    "v_add3_u32": ("u", "uuu", lambda a, b, c: a + b + c), "v_or3_b32": ("u", "uuu", lambda a, b, c: a | b | c),
    "v_and_or_b32": ("u", "uuu", lambda a, b, c: a & b | c), "v_xad_u32": ("u", "uuu", lambda a, b, c: (a ^ b) + c),
    "v_lshl_add_u32": ("u", "uuu", lambda a, n, c: (a << (n & U(31))) + c),
    "v_add_lshl_u32": ("u", "uuu", lambda a, b, n: a + b << (n & U(31))),
    "v_lshl_or_b32": ("u", "uuu", lambda a, n, c: a << (n & U(31)) | c),
    "v_bfe_u32": ("u", "uuu", lambda x, at, n: field(x, at, n, False)),
    "v_bfe_i32": ("u", "iuu", lambda x, at, n: field(x, at, n, True)),
    "v_bfi_b32": ("u", "uuu", lambda m, a, b: m & a | ~m & b), "v_bfm_b32": ("u", "uu", lambda n, at:
        ((UU(1) << (n & U(31)).astype(UU)) - UU(1) << (at & U(31)).astype(UU)).astype(U)),
    "v_alignbit_b32": ("u", "uuu", lambda a, b, n:
        ((a.astype(UU) << UU(32) | b.astype(UU)) >> (n & U(31)).astype(UU)).astype(U)),
    "v_perm_b32": ("u", "uuu", lambda a, b, c: permuted(a, b, c)),
    "v_bcnt_u32_b32": ("u", "uu", lambda a, b: count(a) + b),
    "v_trunc_f32": ("f", "f", np.trunc), "v_ceil_f32": ("f", "f", np.ceil), "v_floor_f32": ("f", "f", np.floor),
    "v_rndne_f32": ("f", "f", np.rint), "v_trunc_f64": ("F", "F", np.trunc), "v_ceil_f64": ("F", "F", np.ceil),
    "v_floor_f64": ("F", "F", np.floor), "v_rndne_f64": ("F", "F", np.rint),
    "v_fract_f32": ("f", "f", lambda x: x - np.floor(x)), "v_fract_f64": ("F", "F", lambda x: x - np.floor(x)),
    "v_rcp_f32": ("f", "f", lambda x: F(1) / x), "v_rcp_iflag_f32": ("f", "f", lambda x: F(1) / x),
    "v_rcp_f64": ("F", "F", lambda x: FF(1) / x),
    "v_rsq_f32": ("f", "f", lambda x: (1 / np.sqrt(x.astype(FF))).astype(F)),
    "v_rsq_f64": ("F", "F", lambda x: 1 / np.sqrt(x)),
    "v_sqrt_f32": ("f", "f", np.sqrt), "v_sqrt_f64": ("F", "F", np.sqrt),
    "v_exp_f32": ("f", "f", lambda x: np.exp2(x.astype(FF)).astype(F)),
    "v_log_f32": ("f", "f", lambda x: np.log2(x.astype(FF)).astype(F)),
    "v_ldexp_f32": ("f", "fi", scaled), "v_ldexp_f64": ("F", "Fi", scaled),
    "v_frexp_exp_i32_f32": ("i", "f", frexp_exponent), "v_frexp_exp_i32_f64": ("i", "F", frexp_exponent),
    "v_frexp_mant_f32": ("f", "f", frexp_part), "v_frexp_mant_f64": ("F", "F", frexp_part),
    "v_cvt_f32_i32": ("f", "i", lambda x: x.astype(F)), "v_cvt_f32_u32": ("f", "u", lambda x: x.astype(F)),
    "v_cvt_f64_i32": ("F", "i", lambda x: x.astype(FF)), "v_cvt_f64_u32": ("F", "u", lambda x: x.astype(FF)),
    "v_cvt_f32_f64": ("f", "F", lambda x: x.astype(F)), "v_cvt_f64_f32": ("F", "f", lambda x: x.astype(FF)),
    "v_cvt_i32_f32": ("i", "f", to_int(I, -2**31, 2**31 - 1)), "v_cvt_u32_f32": ("u", "f", to_int(U, 0, 2**32 - 1)),
    "v_cvt_i32_f64": ("i", "F", to_int(I, -2**31, 2**31 - 1)), "v_cvt_u32_f64": ("u", "F", to_int(U, 0, 2**32 - 1)),
    "v_cvt_f32_f16": ("f", "u", half_of),
    "v_cvt_f16_f32": ("u", "f", lambda x: x.astype(np.float16).view(np.uint16).astype(U)),
    **{f"v_cvt_f32_ubyte{n}": ("f", "u", lambda x, n=n: (x >> U(8 * n) & U(255)).astype(F)) for n in range(4)},
    "v_div_fixup_f32": ("f", "fff", lambda q, d, n: n / d), "v_div_fixup_f64": ("F", "FFF", lambda q, d, n: n / d),
    "v_mul_legacy_f32": ("f", "ff", lambda a, b: np.where((a == 0) | (b == 0), F(0), a * b)),
}


def short(x):
    return x.astype(np.uint16).view(np.int16).astype(I)


HALVES = {"v_lshlrev_b16": lambda n, x: x << (n & U(15)), "v_lshrrev_b16": lambda n, x: x >> (n & U(15)),
          "v_mul_lo_u16": np.multiply, "v_add_u16": np.add, "v_sub_u16": np.subtract,
          "v_subrev_u16": lambda a, b: b - a, "v_min_u16": np.minimum, "v_max_u16": np.maximum,
          "v_min_i16": lambda a, b: np.minimum(short(a), short(b)).view(U),
          "v_max_i16": lambda a, b: np.maximum(short(a), short(b)).view(U),
          "v_ashrrev_i16": lambda n, x: (short(x) >> (n & U(15)).view(I)).view(U)}
OPS.update({name: ("u", "uu", lambda a, b, f=f: f(a & U(0xffff), b & U(0xffff)) & U(0xffff))
            for name, f in HALVES.items()})
OPS.update({f"v_{name}_f16": ("h", "hh", halves(OPS[f"v_{name}_f32"][2]))
            for name in ("add", "sub", "subrev", "mul", "min", "max")})
OPS["v_madmk_f32"] = ("f", "fff", lambda a, k, b: fma32(a, k, b))
OPS["v_madak_f32"] = ("f", "fff", lambda a, b, k: fma32(a, b, k))
OPS["v_fmamk_f32"], OPS["v_fmaak_f32"] = OPS["v_madmk_f32"], OPS["v_madak_f32"]
OPS["v_mad_f32"] = OPS["v_fma_f32"]
COMPARES = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
            "ne": np.not_equal, "lg": lambda a, b: (a < b) | (a > b), "neq": lambda a, b: ~(a == b),
            "nlt": lambda a, b: ~(a < b), "nle": lambda a, b: ~(a <= b), "ngt": lambda a, b: ~(a > b),
            "nge": lambda a, b: ~(a >= b), "nlg": lambda a, b: ~((a < b) | (a > b)),
            "o": lambda a, b: (a == a) & (b == b), "u": lambda a, b: (a != a) | (b != b)}
KINDS = {"u32": "u", "i32": "i", "f32": "f", "u64": "U", "i64": "I", "f64": "F"}


def permuted(a, b, c):
    whole = (a.astype(UU) << UU(32) | b.astype(UU))
    out = np.zeros(64, U)
    for k in range(4):
        which = c >> U(8 * k) & U(255)
        byte = (whole >> (np.minimum(which, 7).astype(UU) * UU(8)) & UU(255)).astype(U)
        byte = np.where(which == 12, U(0), np.where(which > 12, U(255), byte))
        out = out | byte << U(8 * k)
    return out


def carry_op(name, ops):
    """v_add_co_u32 and the like: (result, carry out, operands, carry in)."""
    put, carry = to_vector(ops[0], "u", {}), register(ops[1])[1]
    a, b = source(ops[2], "u"), source(ops[3], "u")
    into = source(ops[4], "U") if len(ops) > 4 else None
    sign = 1 if "add" in name else -1
    swap = "rev" in name

    def do(w):
        x, y = a(w).astype(II), b(w).astype(II)
        if swap:
            x, y = y, x
        c = (into(w) >> np.arange(64, dtype=UU) & UU(1)).astype(II) if into else 0
        r = np.broadcast_to(x + sign * y + sign * c, 64)
        truth = (r >= 1 << 32) if sign > 0 else (r < 0)
        put(w, (r & 0xffffffff).astype(U))
        put_scalar(w, carry, 2, bits_of(truth & w.mask))
    return do


def choose(ops, extras):
    put, a, b = to_vector(ops[0], "u", extras), source(ops[1], "u", extras.get("src0_sel")), \
        source(ops[2], "u", extras.get("src1_sel"))
    c = source(ops[3] if len(ops) > 3 else "vcc", "U")
    return lambda w: put(w, np.where((c(w) >> np.arange(64, dtype=UU) & UU(1)).astype(bool), b(w), a(w)))


def compare(name, ops, extras):
    _, _, what, kind = name.split("_")[:4]
    place = register(ops[0])[1]
    sels = extras.get("src0_sel"), extras.get("src1_sel")
    if what == "class":
        a, b, f = source(ops[1], KINDS[kind]), source(ops[2], "u"), classes
    elif what in ("t", "tru"):
        return lambda w: put_scalar(w, place, 2, bits_of(w.mask))
    elif kind in ("u16", "i16"):
        a, b, g = source(ops[1], "u", sels[0]), source(ops[2], "u", sels[1]), COMPARES[what]
        half = np.int16 if kind == "i16" else np.uint16
        f = lambda p, q: g(p.astype(np.uint16).view(half), q.astype(np.uint16).view(half))
    else:
        a, b, f = source(ops[1], KINDS[kind], sels[0]), source(ops[2], KINDS[kind], sels[1]), COMPARES[what]
    return lambda w: put_scalar(w, place, 2, bits_of(np.broadcast_to(f(a(w), b(w)), 64) & w.mask))


def wide_mad(ops, is_signed):
    kind, t = ("i", II) if is_signed else ("u", UU)
    put, a, b, c = to_vector(ops[0], "U", {}), source(ops[2], kind), source(ops[3], kind), source(ops[4], "U")
    return lambda w: put(w, np.broadcast_to((a(w).astype(t) * b(w).astype(t)).view(UU) + c(w), 64))


def accumulate(ops, kind):
    f = fma32 if kind == "f" else fma64
    put, a, b, c = to_vector(ops[0], kind, {}), *(source(o, kind) for o in (ops[1], ops[2], ops[0]))
    return lambda w: put(w, np.broadcast_to(f(a(w), b(w), c(w)), 64))


def div_scale(ops, kind):
    put, a, place = to_vector(ops[0], kind, {}), source(ops[2], kind), register(ops[1])[1]

    def do(w):
        put(w, a(w))
        put_scalar(w, place, 2, 0)
    return do


def lane_op(name, ops):
    if name == "v_readfirstlane_b32":
        put, get = register(ops[0])[1], source(ops[1], "u")
        return lambda w: put_scalar(w, put, 1, int(np.broadcast_to(get(w), 64)[w.first()]))
    if name == "v_readlane_b32":
        put, get, at = register(ops[0])[1], source(ops[1], "u"), source(ops[2], "u")
        return lambda w: put_scalar(w, put, 1, int(get(w)[int(at(w)[0]) & 63]))
    n, value, at = register(ops[0])[1], source(ops[1], "u"), source(ops[2], "u")

    def write(w):
        w.v[n][int(at(w)[0]) & 63] = value(w)[0]
    return write


def count_before(name, ops):
    put, mask, more = to_vector(ops[0], "u", {}), source(ops[1], "u"), source(ops[2], "u")
    shift = 32 if "_hi_" in name else 0

    def do(w):
        whole = int(mask(w)[0]) << shift
        n = np.array([bin(whole & (1 << k) - 1).count("1") for k in range(64)] if not shift else
                     [bin((whole & (1 << k) - 1) >> 32).count("1") for k in range(64)], U)
        put(w, n + more(w))
    return do


def mix(name, ops, extras):
    """Operands are float32, or halves of a register: op_sel_hi says that it is one, op_sel that it is the upper one."""
    upper, half = ([n == "1" for n in extras.get(key, "[0,0,0]").strip("[]").split(",")]
                   for key in ("op_sel", "op_sel_hi"))
    get = [(lambda w, g=half_source(o, f"WORD_{int(u)}"): g(w).astype(F)) if h else source(o, "f")
           for o, u, h in zip(ops[1:], upper, half)]
    if name == "v_fma_mix_f32":
        put = to_vector(ops[0], "f", {})
        return lambda w: put(w, np.broadcast_to(fma32(*[g(w) for g in get]), 64))
    place = {"v_fma_mixlo_f16": "WORD_0", "v_fma_mixhi_f16": "WORD_1"}[name]
    put = to_vector(ops[0], "h", {"dst_sel": place, "dst_unused": "UNUSED_PRESERVE"})
    return lambda w: put(w, np.broadcast_to(fma32(*[g(w) for g in get]).astype(np.float16), 64))


def vector(name, ops, extras):
    if name.startswith("v_cmp_"):
        return compare(name, ops, extras)
    if name.startswith(("v_add_co", "v_addc_co", "v_sub_co", "v_subb_co", "v_subrev_co", "v_subbrev_co")):
        return carry_op(name, ops)
    if name == "v_cndmask_b32":
        return choose(ops, extras)
    if name in ("v_mad_u64_u32", "v_mad_i64_i32"):
        return wide_mad(ops, name == "v_mad_i64_i32")
    if name in ("v_fmac_f32", "v_mac_f32", "v_fmac_f64"):
        return accumulate(ops, "F" if name.endswith("64") else "f")
    if name.startswith("v_div_scale"):
        return div_scale(ops, "F" if name.endswith("64") else "f")
    if name.startswith("v_div_fmas"):
        name = "v_fma" + name[10:]
    if "lane_b32" in name:
        return lane_op(name, ops)
    if name.startswith("v_mbcnt"):
        return count_before(name, ops)
    if name.startswith("v_fma_mix"):
        return mix(name, ops, extras)
    if "op_sel" in extras or "op_sel_hi" in extras:
        raise Unknown("op_sel")
    if name == "v_nop":
        return lambda w: None
    if name not in OPS:
        raise Unknown("instruction")
    kind, kinds, f = OPS[name]
    sels = [extras.get("src0_sel"), extras.get("src1_sel"), None]
    put = to_vector(ops[0], kind, extras)
    get = [half_source(o, s) if k == "h" else source(o, k, s) for o, k, s in zip(ops[1:], kinds, sels)]
    clamp, t = extras.get("clamp"), TYPES[kind]
    factor = {"mul:2": 2, "mul:4": 4, "div:2": 0.5}.get(extras.get("omod"))
    if clamp and kind not in "fFh":
        raise Unknown("clamp of integers")

    def do(w):
        x = f(*[g(w) for g in get])
        if factor:
            x = (x * t(factor)).astype(t)
        if clamp:
            x = np.where(np.isnan(x), t(0), np.clip(x, t(0), t(1))).astype(t)
        put(w, np.ascontiguousarray(np.broadcast_to(x, 64)))
    return do


# -- scalar instructions ---------------------------------------------------------------------------------------------
def scalar_source(text, wide):
    r = register(text)
    if text in ("src_scc", "scc"):
        return lambda w: w.scc
    if r:
        n = r[1]
        return (lambda w: w.s[n] | w.s[n + 1] << 32) if wide else (lambda w: w.s[n])
    if "." in text:
        value = int(np.array([float(text)], FF if wide else F).view(UU if wide else U)[0])
    else:
        value = int(text, 0) & ((1 << 64) - 1 if wide else 0xffffffff)
    return lambda w: value


def signed(x, n=32):
    return x - (1 << n) if x >> n - 1 else x


def low_bit(x, n):
    return (x & -x).bit_length() - 1 if x else (1 << n) - 1


def leading(name, n):
    """How many bits at the top are 0; of s_flbit_i32: like the sign."""
    if name != "s_flbit_i32":
        return lambda x: n - x.bit_length() if x else 0xffffffff
    return lambda x: 0xffffffff if x in (0, 0xffffffff) else 32 - (x if x < 1 << 31 else ~x & 0xffffffff).bit_length()


S2 = {  # result, and what scc becomes: "z" not zero, None stays
    "s_and": (lambda a, b, n: a & b, "z"), "s_or": (lambda a, b, n: a | b, "z"), "s_xor": (lambda a, b, n: a ^ b, "z"),
    "s_andn2": (lambda a, b, n: a & ~b, "z"), "s_orn2": (lambda a, b, n: a | ~b, "z"),
    "s_nand": (lambda a, b, n: ~(a & b), "z"), "s_nor": (lambda a, b, n: ~(a | b), "z"),
    "s_xnor": (lambda a, b, n: ~(a ^ b), "z"),
    "s_lshl": (lambda a, b, n: a << (b & n - 1), "z"), "s_mul": (lambda a, b, n: a * b, None),
    "s_lshr": (lambda a, b, n: a >> (b & n - 1), "z"), "s_ashr": (lambda a, b, n: signed(a, n) >> (b & n - 1), "z"),
    "s_bfm": (lambda a, b, n: (1 << (a & n - 1)) - 1 << (b & n - 1), None),
}
SCMP = {"eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
        "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}


def add_sub(name, ops):
    a, b, d = scalar_source(ops[1], False), scalar_source(ops[2], False), register(ops[0])[1]
    is_signed, borrow = name.endswith("i32"), name.startswith(("s_sub", "s_subb"))
    with_carry = name.startswith(("s_addc", "s_subb"))

    def do(w):
        x, y = a(w), b(w)
        c = w.scc if with_carry else 0
        r = x - y - c if borrow else x + y + c
        if is_signed:
            exact = signed(x) - signed(y) if borrow else signed(x) + signed(y)
            w.scc = int(not -2**31 <= exact < 2**31)
        else:
            w.scc = int(r < 0 or r >> 32 > 0)
        put_scalar(w, d, 1, r)
    return do


def field_of(x, word, n, is_signed):
    at, size = word & n - 1, word >> 16 & 127
    r = x >> at & (1 << size) - 1
    return signed(r, size) if is_signed and size else r


def scalar(name, ops, extras, self_pc, next_pc):
    if name in ("s_nop", "s_sleep", "s_setprio", "s_dcache_wb", "s_icache_inv", "s_dcache_inv", "s_inst_prefetch",
                "s_sethalt", "s_clause", "s_setreg_imm32_b32", "s_setreg_b32"):
        return lambda w: None
    if name == "s_endpgm":
        return lambda w: "end"
    if name == "s_barrier":
        return lambda w: "barrier"
    if name.startswith(("s_branch", "s_cbranch")):
        target = next_pc + signed(int(ops[0]) & 0xffff, 16) * 4
        tests = {"s_branch": lambda w: True, "s_cbranch_scc0": lambda w: not w.scc, "s_cbranch_scc1": lambda w: w.scc,
                 "s_cbranch_vccz": lambda w: not (w.s[VCC] | w.s[VCC + 1]),
                 "s_cbranch_vccnz": lambda w: w.s[VCC] | w.s[VCC + 1],
                 "s_cbranch_execz": lambda w: not (w.s[EXEC] | w.s[EXEC + 1]),
                 "s_cbranch_execnz": lambda w: w.s[EXEC] | w.s[EXEC + 1]}
        test = tests[name]
        return lambda w: target if test(w) else None
    if name in ("s_movk_i32", "s_addk_i32", "s_mulk_i32") or name.startswith("s_cmpk_"):
        k, d = signed(int(ops[1], 0) & 0xffff, 16), register(ops[0])[1]
        if name.startswith("s_cmpk_"):
            f, is_signed = SCMP[name.split("_")[2]], name.endswith("i32")
            k = k if is_signed else int(ops[1], 0) & 0xffff

            def test(w):
                w.scc = int(f(signed(w.s[d]) if is_signed else w.s[d], k))
            return test
        if name == "s_movk_i32":
            return lambda w: put_scalar(w, d, 1, k)
        if name == "s_mulk_i32":
            return lambda w: put_scalar(w, d, 1, w.s[d] * k)
        return add_sub("s_add_i32", [ops[0], ops[0], str(k)])
    if name.startswith(("s_add_", "s_addc_", "s_sub_", "s_subb_")):
        return add_sub(name, ops)
    if name.startswith("s_load_dword"):
        return scalar_load(name, ops, extras)
    base, suffix = name.rsplit("_", 1)
    if name == "s_flbit_i32":
        base, suffix = name, "i32"
    n = int(suffix[1:]) if suffix[1:].isdigit() else 32
    wide, mask = n == 64, (1 << n) - 1
    if name.startswith("s_cmp_"):
        f, is_signed = SCMP[name.split("_")[2]], suffix[0] == "i"
        a, b = scalar_source(ops[0], wide), scalar_source(ops[1], wide)

        def test(w):
            x, y = a(w), b(w)
            w.scc = int(f(signed(x), signed(y)) if is_signed else f(x, y))
        return test
    if base == "s_bitcmp1" or base == "s_bitcmp0":
        a, b, want = scalar_source(ops[0], wide), scalar_source(ops[1], False), base == "s_bitcmp1"

        def bit_test(w):
            w.scc = int(bool(a(w) >> (b(w) & n - 1) & 1) == want)
        return bit_test
    if name == "s_getpc_b64":
        d = register(ops[0])[1]
        return lambda w: put_scalar(w, d, 2, next_pc)
    if name == "s_setpc_b64":
        a = scalar_source(ops[0], True)
        return lambda w: a(w)
    if name == "s_swappc_b64":
        d, a = register(ops[0])[1], scalar_source(ops[1], True)

        def swap(w):
            target = a(w)
            put_scalar(w, d, 2, next_pc)
            return target
        return swap
    d = register(ops[0])
    a = scalar_source(ops[1], wide)
    if base.endswith("_saveexec"):
        f = {"s_and_saveexec": lambda x, e: x & e, "s_or_saveexec": lambda x, e: x | e,
             "s_xor_saveexec": lambda x, e: x ^ e, "s_andn2_saveexec": lambda x, e: x & ~e,
             "s_orn2_saveexec": lambda x, e: x | ~e}[base]

        def save(w):
            x, e = a(w), w.s[EXEC] | w.s[EXEC + 1] << 32
            put_scalar(w, d[1], 2, e)
            r = f(x, e) & mask
            put_scalar(w, EXEC, 2, r)
            w.scc = int(r != 0)
        return save
    one = {"s_mov": (lambda x: x, False), "s_not": (lambda x: ~x & mask, True), "s_wqm": (lambda x: x, True),
           "s_brev": (lambda x: int(f"{x:0{n}b}"[::-1], 2), False), "s_abs": (lambda x: abs(signed(x)), True),
           "s_bcnt1_i32": (lambda x: bin(x).count("1"), True), "s_ff1_i32": (lambda x: low_bit(x, 32), False),
           "s_flbit_i32": (leading(name, n), False),
           "s_sext_i32": (lambda x: signed(x & (1 << n) - 1, n), False)}.get(base)
    if one:
        f, sets = one
        size = d[2] if base in ("s_mov", "s_not", "s_brev", "s_wqm") else 1

        def single(w):
            r = f(a(w))
            put_scalar(w, d[1], size, r)
            if sets:
                w.scc = int(r != 0)
        return single
    b = scalar_source(ops[2], wide and base not in ("s_lshl", "s_lshr", "s_ashr", "s_bfe"))
    if base == "s_cselect":
        return lambda w: put_scalar(w, d[1], d[2], a(w) if w.scc else b(w))
    if base in ("s_min", "s_max"):
        pick, is_signed = min if base == "s_min" else max, suffix[0] == "i"

        def extreme(w):
            x, y = a(w), b(w)
            r = pick((signed(x), x), (signed(y), y))[1] if is_signed else pick(x, y)
            w.scc = int(r == x)
            put_scalar(w, d[1], 1, r)
        return extreme
    if base == "s_mul_hi":
        of = signed if suffix == "i32" else int
        return lambda w: put_scalar(w, d[1], 1, of(a(w)) * of(b(w)) >> 32)
    if base == "s_bfe":
        def cut(w):
            r = field_of(a(w), b(w), n, suffix[0] == "i") & mask
            put_scalar(w, d[1], d[2], r)
            w.scc = int(r != 0)
        return cut
    if base.startswith("s_lshl") and base.endswith("_add"):
        k = int(base[6])

        def shift_add(w):
            r = (a(w) << k) + b(w)
            w.scc = int(r >> 32 > 0)
            put_scalar(w, d[1], 1, r)
        return shift_add
    if base == "s_bitset1" or base == "s_bitset0":
        raise Unknown("instruction")
    if base not in S2:
        if base == "s_pack_ll_b32":
            return lambda w: put_scalar(w, d[1], 1, a(w) & 0xffff | (b(w) & 0xffff) << 16)
        raise Unknown("instruction")
    f, sets = S2[base]

    def two(w):
        r = f(a(w), b(w), n) & mask
        put_scalar(w, d[1], d[2], r)
        if sets:
            w.scc = int(r != 0)
    return two


def scalar_load(name, ops, extras):
    words = int(name[12:].lstrip("x") or 1)
    d, base = register(ops[0])[1], register(ops[1])[1]
    far, offset = scalar_source(ops[2], False), int(extras.get("offset", "0"), 0)

    def do(w):
        at = (w.s[base] | w.s[base + 1] << 32) + far(w) + offset
        w.s[d:d + words] = struct.unpack(f"<{words}I", w.machine.memory.read(at & ~3, 4 * words))
    return do


# -- memory instructions ---------------------------------------------------------------------------------------------
def address(ops, offset, a, base):
    """Of global memory: v[a:a+1], or a pair of scalars and a 32-bit offset."""
    if base == "off":
        get = source(a, "U")
        return lambda w: get(w)[w.mask] + UU(offset & (1 << 64) - 1)
    far, s = source(a, "u"), register(base)[1]
    return lambda w: far(w)[w.mask].astype(UU) + UU((w.s[s] | w.s[s + 1] << 32) + offset & (1 << 64) - 1)


SIZES = {"ubyte": (1, False), "sbyte": (1, True), "ushort": (2, False), "sshort": (2, True), "byte": (1, False),
         "short": (2, False), "u8": (1, False), "i8": (1, True), "u16": (2, False), "i16": (2, True), "b8": (1, False),
         "b16": (2, False)}


def shape(what):
    """(bytes of an element, how many words, signed): "dwordx2", "ubyte", "b64" …"""
    if what in SIZES:
        return SIZES[what][0], 1, SIZES[what][1]
    if what.startswith("dword"):
        return 4, int(what[5:].lstrip("x") or 1), False
    return 4, int(what[1:]) // 32, False


def extended(row, size, is_signed):
    if not is_signed or size == 4:
        return row
    return row.astype(np.uint8 if size == 1 else np.uint16).view(np.int8 if size == 1 else np.int16).astype(I).view(U)


UPDATES = {
    "swap": lambda old, new: new, "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "umin": min, "umax": max, "smin": min, "smax": max}


def global_op(name, ops, extras):
    offset = int(extras.get("offset", "0"), 0)
    what = name.split("_", 1)[1]
    if what.startswith("load_"):
        kind = what[5:]
        high_half = kind.endswith("_d16_hi")
        size, words, is_signed = shape(kind.replace("_d16_hi", "").replace("_d16", ""))
        n, at, half = register(ops[0])[1], address(ops, offset, ops[1], ops[2]), "_d16" in kind

        def load(w):
            if not w.mask.any():
                return
            rows = w.machine.memory.gather(at(w), words, size)
            for k in range(words):
                row = extended(rows[k], size, is_signed)
                if half:
                    keep = w.v[n][w.mask]
                    row = keep & U(0xffff) | row << U(16) if high_half else keep & U(0xffff0000) | row & U(0xffff)
                w.v[n + k][w.mask] = row
        return load
    if what.startswith("store_"):
        kind = what[6:]
        shift = 16 if kind.endswith("_d16_hi") else 0
        size, words, _ = shape(kind.replace("_d16_hi", ""))
        at, n = address(ops, offset, ops[0], ops[2]), register(ops[1])[1]

        def store(w):
            if not w.mask.any():
                return
            data = np.stack([w.v[n + k][w.mask] >> U(shift) for k in range(words)], 1)
            rows = np.ascontiguousarray(data).view(np.uint8)[:, :size * words]
            w.machine.memory.scatter(at(w), rows)
        return store
    if what.startswith("atomic_"):
        returns = "glc" in extras
        rest = ops[1:] if returns else ops
        return atomic(what[7:], register(ops[0])[1] if returns else None, address(ops, offset, rest[0], rest[2]),
                      register(rest[1])[1], lambda w: w.machine.memory)
    raise Unknown("instruction")


def atomic(what, result, at, n, memory_of):
    wide = what.endswith("_x2")
    what = what[:-3] if wide else what
    size, bits = (8, 64) if wide else (4, 32)

    def get(w, lane, k):
        return int(w.v[n + k][lane]) | (int(w.v[n + k + 1][lane]) << 32 if wide else 0)

    def do(w):
        lanes, places = np.flatnonzero(w.mask), at(w) if w.mask.any() else []
        memory = memory_of(w)
        for lane, a in zip(lanes.tolist(), np.asarray(places).tolist()):
            if a % size:
                raise Unknown(f"an update at {a:#x} is not aligned")
            old = int.from_bytes(memory.read(a, size), "little")
            value = get(w, lane, 0)
            if what == "cmpswap":
                new = value if old == get(w, lane, 2 if wide else 1) else old
            elif what in ("smin", "smax"):
                new = UPDATES[what](signed(old, bits), signed(value, bits))
            elif what in ("add_f32", "add_f64"):
                t, u = (F, U) if what == "add_f32" else (FF, UU)
                new = int((np.array([old], u).view(t) + np.array([value], u).view(t)).view(u)[0])
            elif what in UPDATES:
                new = UPDATES[what](old, value)
            else:
                raise Unknown("update")
            memory.write(a, (new & (1 << bits) - 1).to_bytes(size, "little"))
            if result is not None:
                w.v[result][lane] = old & 0xffffffff
                if wide:
                    w.v[result + 1][lane] = old >> 32
    return do


def placed(at, offset):
    """Addresses of shared memory have 32 bits."""
    return at.astype(np.int64) + offset & 0xffffffff


class Shared:
    """Of a block; what is read must have been written."""

    def __init__(self, n):
        self.bytes, self.written = np.zeros(n, np.uint8), np.zeros(n, bool)

    def places(self, at, n):
        places = at.astype(np.int64)[:, None] + np.arange(n)
        if len(at) and (places.min() < 0 or places.max() >= len(self.bytes)):
            raise Unknown(f"shared memory of {len(self.bytes)} bytes at {int(places.max())}")
        return places

    def get(self, at, n):
        places = self.places(at, n)
        if not self.written[places].all():
            raise Unknown("shared memory is read that nobody has written")
        return self.bytes[places]

    def set(self, at, rows):
        places = self.places(at, rows.shape[1])
        self.bytes[places], self.written[places] = rows, True

    def read(self, at, n):
        return self.get(np.array([at]), n)[0].tobytes()

    def write(self, at, data):
        self.set(np.array([at]), np.frombuffer(data, np.uint8)[None, :])


def words_of(rows, size, words):
    wide = np.zeros((len(rows), 4 * words), np.uint8)
    wide[:, :rows.shape[1]] = rows
    return wide.view(U).T


def shared_op(name, ops, extras):
    offset, what = int(extras.get("offset", "0"), 0), name[3:]
    if what in ("bpermute_b32", "permute_b32"):
        put, at, value = to_vector(ops[0], "u", {}), source(ops[1], "u"), source(ops[2], "u")

        def permute(w):
            lane = (np.broadcast_to(at(w), 64) + U(offset)) >> U(2) & U(63)
            put(w, np.where(w.mask[lane], np.broadcast_to(value(w), 64)[lane], U(0)))
        if what == "permute_b32":
            raise Unknown("instruction")
        return permute
    if what.startswith(("read2", "write2")):
        return shared_pairs(what, ops, extras)
    if what.startswith("read_"):
        size, words, is_signed = shape(what[5:].replace("_d16_hi", "").replace("_d16", ""))
        if "_d16" in what:
            raise Unknown("instruction")
        n, at = register(ops[0])[1], source(ops[1], "u")

        def read(w):
            rows = words_of(w.shared.get(placed(at(w)[w.mask], offset), size * words), size, words)
            for k in range(words):
                w.v[n + k][w.mask] = extended(rows[k], size, is_signed)
        return read
    if what.startswith("write_"):
        shift = 16 if what.endswith("_d16_hi") else 0
        size, words, _ = shape(what[6:].replace("_d16_hi", ""))
        at, n = source(ops[0], "u"), register(ops[1])[1]

        def write(w):
            data = np.ascontiguousarray(np.stack([w.v[n + k][w.mask] >> U(shift) for k in range(words)], 1))
            w.shared.set(placed(at(w)[w.mask], offset), data.view(np.uint8)[:, :size * words])
        return write
    parts = what.split("_")
    returns = "rtn" in parts
    kind = parts[-1]
    wide = kind.endswith("64")
    sign = "s" if kind[0] == "i" else "u"
    known = {"add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "min": sign + "min",
             "max": sign + "max", "wrxchg": "swap", "cmpst": "cmpst"}.get(parts[0])
    if kind[0] == "f":
        known = "add_f32" if parts[0] == "add" and not wide else None
    if not known:
        raise Unknown("instruction")
    rest = ops[1:] if returns else ops
    get = source(rest[0], "u")
    at = lambda w: placed(get(w)[w.mask], offset).astype(UU)
    result = register(ops[0])[1] if returns else None
    if known == "cmpst":
        return compare_store(result, at, register(rest[1])[1], register(rest[2])[1], wide)
    return atomic(known + ("_x2" if wide else ""), result, at, register(rest[1])[1], lambda w: w.shared)


def compare_store(result, at, compared, new, wide):
    size = 8 if wide else 4

    def do(w):
        for lane, a in zip(np.flatnonzero(w.mask).tolist(), at(w).tolist()):
            word = lambda n: int(w.v[n][lane]) | (int(w.v[n + 1][lane]) << 32 if wide else 0)
            old = int.from_bytes(w.shared.read(a, size), "little")
            if old == word(compared):
                w.shared.write(a, word(new).to_bytes(size, "little"))
            if result is not None:
                w.v[result][lane] = old & 0xffffffff
                if wide:
                    w.v[result + 1][lane] = old >> 32
    return do


def shared_pairs(what, ops, extras):
    unit = 8 if what.endswith("64") else 4
    far = 64 if "st64" in what else 1
    offsets = [int(extras.get(k, "0"), 0) * unit * far for k in ("offset0", "offset1")]
    words = unit // 4
    if what.startswith("read"):
        n, at = register(ops[0])[1], source(ops[1], "u")

        def read(w):
            for i, o in enumerate(offsets):
                rows = words_of(w.shared.get(placed(at(w)[w.mask], o), unit), 4, words)
                for k in range(words):
                    w.later.append((n + i * words + k, rows[k]))
            for r, row in w.later:
                w.v[r][w.mask] = row
            w.later.clear()
        return read
    at, data = source(ops[0], "u"), [register(ops[1])[1], register(ops[2])[1]]

    def write(w):
        for n, o in zip(data, offsets):
            rows = np.ascontiguousarray(np.stack([w.v[n + k][w.mask] for k in range(words)], 1)).view(np.uint8)
            w.shared.set(placed(at(w)[w.mask], o), rows)
    return write


def private_op(name, ops, extras):
    """buffer_load and buffer_store reach the memory that each thread has for itself: the stack."""
    offset, what = int(extras.get("offset", "0"), 0), name[7:]
    far = source(ops[1], "u") if "offen" in extras else lambda w: np.zeros(1, U)
    base, n = scalar_source(ops[3].split()[0], False), register(ops[0])[1]
    load = what.startswith("load_")
    kind = what.split("_", 1)[1]
    if "_d16" in kind and not kind.endswith("d16_hi"):
        raise Unknown("instruction")
    shift = 16 if kind.endswith("_d16_hi") else 0
    size, words, is_signed = shape(kind.replace("_d16_hi", ""))

    def do(w):
        lanes = np.flatnonzero(w.mask)
        at = np.broadcast_to(far(w), 64)[lanes].astype(np.int64) + base(w) // 64 + offset
        places = at[:, None] + np.arange(size * words)
        if len(at) and (places.min() < 0 or places.max() >= w.stack.shape[1]):
            raise Unknown(f"local memory of {w.stack.shape[1]} bytes at {int(places.max())}")
        if load:
            rows = words_of(w.stack[lanes[:, None], places], size, words)
            for k in range(words):
                w.v[n + k][lanes] = extended(rows[k], size, is_signed)
        else:
            data = np.ascontiguousarray(np.stack([w.v[n + k][lanes] >> U(shift) for k in range(words)], 1))
            w.stack[lanes[:, None], places] = data.view(np.uint8)[:, :size * words]
    if load and shift:
        raise Unknown("instruction")
    return do


# -- code ------------------------------------------------------------------------------------------------------------
MACHINES = {0x2c: "gfx900", 0x2f: "gfx906", 0x3f: "gfx90a", 0x36: "gfx1030", 0x41: "gfx1100"}
KEYS = ("offset", "offset0", "offset1", "dst_sel", "dst_unused", "src0_sel", "src1_sel", "op_sel", "op_sel_hi")
FLAGS = ("glc", "slc", "offen", "idxen", "lds", "clamp", "nv", "gds")


def decode(text, pc, size):
    """A function of a wave, whose result is None, the next address, "end" or "barrier"."""
    name, _, rest = text.strip().partition(" ")
    extras, words = {}, []
    if name == "s_waitcnt":
        return lambda w: None
    for op in split_operands(rest):
        parts = op.split()
        for p in parts[1:] if parts else []:
            key, colon, value = p.partition(":")
            if p in ("mul:2", "mul:4", "div:2"):
                extras["omod"] = p
            elif colon and key in KEYS:
                extras[key] = value
            elif p in FLAGS:
                extras[p] = True
            elif p == "off":
                words.append(p)
            else:
                raise Unknown(f"`{text.strip()}`: {p}")
        if parts and (parts[0].split(":")[0] in ("offset", "offset0", "offset1") or parts[0] in FLAGS):
            key, _, value = parts[0].partition(":")
            extras[key] = value or True
        elif parts:
            words.append(parts[0])
    for suffix in ("_e32", "_e64", "_sdwa", "_dpp"):
        if name.endswith(suffix):
            if suffix == "_dpp":
                raise Unknown(f"`{text.strip()}`")
            name = name[:-len(suffix)]
    try:
        if name.startswith("v_"):
            return vector(name, words, extras)
        if name.startswith("s_"):
            return scalar(name, words, extras, pc, pc + size)
        if name.startswith("global_"):
            return global_op(name, words, extras)
        if name.startswith("ds_"):
            return shared_op(name, words, extras)
        if name.startswith("buffer_") and "wb" not in name and "inv" not in name:
            return private_op(name, words, extras)
        if name.startswith("buffer_"):
            return lambda w: None
    except (Unknown, KeyError, IndexError, TypeError, ValueError) as e:
        raise Unknown(f"`{text.strip()}`: {type(e).__name__} {e}")
    raise Unknown(f"`{text.strip()}`")


class Wave:
    def __init__(self, machine, shared, scratch):
        self.machine, self.shared = machine, shared
        self.v, self.s, self.scc, self.later = np.zeros((260, 64), U), [0] * 130, 0, []
        self.stack = np.zeros((64, scratch), np.uint8)
        self.pc = machine.entry

    def refresh(self):
        e = self.s[EXEC] | self.s[EXEC + 1] << 32
        self.mask = (UU(e) >> np.arange(64, dtype=UU) & UU(1)).astype(bool)

    def first(self):
        found = np.flatnonzero(self.mask)
        return int(found[0]) if len(found) else 0

    def run(self):
        """Until a barrier, or the end."""
        known = self.machine.known
        while True:
            at = known.get(self.pc) or self.machine.translate(self.pc)
            to = at[0](self)
            if to is None:
                self.pc = at[1]
            elif to == "end" or to == "barrier":
                self.pc = at[1]
                return to
            else:
                self.pc = to


class Kernel:
    """A code object."""

    def __init__(self, memory, llvm, number, image):
        self.memory, self.known, self.base = memory, {}, CODE + (number << 28)
        self.llvm, self.image = llvm, image
        head = struct.unpack_from("<16sHHIQQQIHHHHHH", image)
        ident, kind, machine = head[:3]
        phoff, shoff, flags, phnum, shnum = head[5], head[6], head[7], head[10], head[12]
        if kind != 3 or machine != 224 or ident[7] != 64 or ident[8] != 3:
            raise Unknown("no code object of version 5 for AMD devices under HSA")
        self.arch = MACHINES.get(flags & 0xff)
        segments = [struct.unpack_from("<IIQQQQQQ", image, phoff + 56 * i) for i in range(phnum)]
        loads = [p for p in segments if p[0] == 1]
        self.memory_image = bytearray(max(p[3] + p[6] for p in loads))
        for _, rights, offset, at, _, size, _, align in loads:
            if offset % align != at % align:
                raise Unknown("a segment that cannot be mapped")
            self.memory_image[at:at + size] = image[offset:offset + size]
        sections = [struct.unpack_from("<IIQQQQIIQQ", image, shoff + 64 * i) for i in range(shnum)]
        table = next(s for s in sections if s[1] == 2)  # .symtab: AMD's loader looks there
        names = sections[table[6]]
        symbols = {}
        for i in range(table[5] // 24):
            name, info, other, section, value, size = struct.unpack_from("<IBBHQQ", image, table[4] + 24 * i)
            end = image.index(0, names[4] + name)
            symbols[image[names[4] + name:end].decode()] = (value, info & 15, section)
        at = symbols["kernel.kd"][0]
        kd = self.memory_image[at:at + 64]
        self.group, self.scratch, self.params = struct.unpack_from("<III", kd)
        self.entry = self.base + at + struct.unpack_from("<q", kd, 16)[0]
        if self.entry != self.base + symbols["kernel"][0] or self.entry % 256:
            raise Unknown("the descriptor does not lead to the kernel")
        self.rsrc1, self.rsrc2, self.properties = struct.unpack_from("<IIH", kd, 48)
        self.args, self.max_threads = self.metadata(sections)
        if self.args != [(0, self.params)]:
            raise Unknown(f"arguments {self.args}, and room for {self.params} bytes")
        self.code_end = max(p[3] + p[6] for p in loads if p[1] & 1)
        if not self.arch:
            raise Unknown(f"machine {flags & 0xff:#x} is not known here")
        memory.images[self.base] = self.memory_image
        self.disassembler = None

    def metadata(self, sections):
        note = next(s for s in sections if s[1] == 7)
        n, size, kind = struct.unpack_from("<III", self.image, note[4])
        at = note[4] + 12 + (n + 3) // 4 * 4
        facts = unpack(self.image, at)[0]
        kernel = facts["amdhsa.kernels"][0]
        if kind != 32 or len(facts["amdhsa.kernels"]) != 1 or kernel[".symbol"] != "kernel.kd":
            raise Unknown("metadata of another kernel")
        values = all(a[".value_kind"] == "by_value" for a in kernel[".args"])
        if kernel[".kernarg_segment_size"] != self.params or not values:
            raise Unknown(f"metadata {kernel}")
        return [(a[".offset"], a[".size"]) for a in kernel[".args"]], kernel[".max_flat_workgroup_size"]

    def disassemble(self, pc):
        """(text, bytes) of an instruction."""
        if self.disassembler is None:
            self.buffer = (ctypes.c_char * len(self.memory_image)).from_buffer(self.memory_image)
            self.disassembler = self.llvm.LLVMCreateDisasmCPU(b"amdgcn-amd-amdhsa", self.arch.encode(), None, 0, None,
                                                              None)
        text, at, size = ctypes.create_string_buffer(256), pc - self.base, 0
        if 0 <= at < len(self.memory_image):
            size = self.llvm.LLVMDisasmInstruction(self.disassembler, ctypes.addressof(self.buffer) + at,
                                                   min(20, len(self.memory_image) - at), pc, text, 256)
        if not size:
            raise Unknown(f"no instruction at {pc - self.base:#x}")
        return text.value.decode().split("//")[0].replace("\t", " "), size

    def translate(self, pc):
        if self.arch not in ("gfx900", "gfx906"):
            raise Unknown(f"code for {self.arch} is not executed here")
        text, size = self.disassemble(pc)
        self.known[pc] = decode(text, pc, size), pc + size
        return self.known[pc]

    def read_all(self):
        """Disassembles the whole code: of the kernel and of the functions behind it."""
        pc, end = self.entry, self.base + self.code_end
        while pc < end:
            pc += self.disassemble(pc)[1]

    def start(self, w, block, first, threads, x, y, slots):
        """What the descriptor says that registers hold."""
        s, at = w.s, 0
        given = ((0, 4, 0), (1, 2, PACKET), (2, 2, None), (3, 2, slots), (4, 2, None), (5, 2, 0), (6, 1, 0))
        for bit, words, value in given:
            if self.properties >> bit & 1:
                if value is None:
                    raise Unknown("the kernel asks for more than its parameters")
                s[at:at + words] = [value >> 32 * k & 0xffffffff for k in range(words)]
                at += words
        if at != (self.rsrc2 >> 1 & 31):
            raise Unknown("registers of the descriptor do not add up")
        for bit, value in ((7, block), (8, 0), (9, 0), (10, 0)):
            if self.rsrc2 >> bit & 1:
                s[at], at = value, at + 1
        if self.rsrc2 & 1:
            s[at] = 0
        ids = first + LANES
        w.v[0] = ids % x
        if self.rsrc2 >> 11 & 3 >= 1:
            w.v[1] = ids // x % y
        if self.rsrc2 >> 11 & 3 == 2:
            w.v[2] = ids // (x * y)
        n = min(64, threads - first)
        put_scalar(w, EXEC, 2, (1 << n) - 1)

    def run(self, grid, x, y, z, shared, slots):
        threads = x * y * z
        if threads > self.max_threads:
            raise Unknown(f"{threads} threads in a block; the kernel allows {self.max_threads}")
        self.memory.images[PACKET] = struct.pack("<6H5I2Q", 0, 1, x, y, z, 0, grid * x, y, z, self.scratch,
                                                 self.group + shared, self.base, slots) + bytes(16)
        for block in range(grid):
            memory, waves = Shared(self.group + shared), []
            for first in range(0, threads, 64):
                w = Wave(self, memory, self.scratch + 4096 if self.scratch else 4096)
                self.start(w, block, first, threads, x, y, slots)
                waves.append(w)
            while waves:
                waves = [w for w in waves if w.run() == "barrier"]


def unpack(data, at):
    """MessagePack, as much of it as metadata need."""
    b = data[at]
    if b < 0x80 or b >= 0xe0:
        return (b if b < 0x80 else b - 256), at + 1
    if b in (0xc0, 0xc2, 0xc3):
        return {0xc0: None, 0xc2: False, 0xc3: True}[b], at + 1
    sizes = {0xcc: ">B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q", 0xd0: ">b", 0xd1: ">h", 0xd2: ">i", 0xd3: ">q"}
    if b in sizes:
        return struct.unpack_from(sizes[b], data, at + 1)[0], at + 1 + struct.calcsize(sizes[b])
    lengths = {0xd9: ">B", 0xda: ">H", 0xdb: ">I", 0xdc: ">H", 0xdd: ">I", 0xde: ">H", 0xdf: ">I"}
    kind = "list" if 0x90 <= b < 0xa0 or b in (0xdc, 0xdd) else "map"
    if 0xa0 <= b < 0xc0 or b in (0xd9, 0xda, 0xdb):
        kind = "str"
    n = b & (31 if kind == "str" else 15)
    at += 1
    if b in lengths:
        n = struct.unpack_from(lengths[b], data, at)[0]
        at += struct.calcsize(lengths[b])
    if kind == "str":
        return data[at:at + n].decode(), at + n
    items = []
    for _ in range(n if kind == "list" else 2 * n):
        item, at = unpack(data, at)
        items.append(item)
    return (items if kind == "list" else dict(zip(items[::2], items[1::2]))), at


def main():
    np.seterr(all="ignore")
    memory, kernels, llvm, idle = Memory(), {}, None, os.environ.get("FAKE_GPU_IDLE")
    for line in sys.stdin:
        what, number, *rest = line.split()
        rest = [int(r) for r in rest]
        try:
            if what == "load":
                llvm = llvm or open_llvm()
                k = kernels[number] = Kernel(memory, llvm, int(number), memory.read(rest[0], rest[1]))
                if idle:
                    k.read_all()
                    print("gcn-read", k.arch, file=sys.stderr, flush=True)
                print("ok", k.max_threads, k.scratch, k.params, flush=True)
            elif what == "run":
                if not idle:
                    kernels[number].run(*rest)
                print("ok", flush=True)
            else:
                memory.images.pop(kernels.pop(number).base, None) if number in kernels else None
        except Unknown as e:
            print(str(e).replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
