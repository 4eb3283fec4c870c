#!/usr/bin/env python3
"""What NVIDIA's assembler makes of our kernels, beside what nvcc makes of the same written in CUDA C: no times.

    tests/bench/gpu_code.py [--qrun build/qrun] [--arch sm_90] [--ptxas ptxas] [--nvcc nvcc] [--nvdisasm nvdisasm]
                            [--driver build/libptx_driver.so] [--write] [program ...]

For each program of tests/bench/kernels that is a kernel: registers, bytes spilled, how much of a multiprocessor's
threads that lets run (occupancy, of blocks of 256), machine instructions in the code, and, counted while the driver
that executes PTX runs both over a small array, instructions of PTX and bytes of global memory that a position asks for.
tests/bench/peers/cuda.cu has the other side. nvdisasm comes with NVIDIA's toolkit, or from Python's package index as
nvidia-cuda-nvdisasm. --write puts the table between the marks in docs/devices.md."""
import argparse, collections, ctypes, datetime, os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BEGIN, END = "<!-- gpu code: written by tests/bench/gpu_code.py -->", "<!-- gpu code: end -->"
REGISTERS, THREADS, SHARED, BLOCKS = 65536, {"sm_75": 1024, "sm_86": 1536, "sm_89": 1536}, 228 << 10, 32

IMAGE = "x = reshape(pattern({n}*{n}, 37, 1021), [{n},{n}])\ny = zeros({n},{n})\n"
LINE = "x = pattern({n}, 37, 1021)\ny = pattern({n}, 53, 1019)\n"

# name: setup and work in our language, n, rank; kernels and arguments in CUDA C: arrays of floats by how many, numbers.
Program = collections.namedtuple("Program", "setup work n rank peers")
PROGRAMS = {
    "saxpy": Program(LINE, "add_scaled(x, y)", 65536, 1, [("saxpy", [0.5, "a", "a", "n"])]),
    "triad": Program(LINE, "z = x + 3*y", 65536, 1, [("triad", ["a", "a", "a", "n"])]),
    "fused": Program(LINE, "z = exp(-x.*x).*sin(x)", 65536, 1, [("fused", ["a", "a", "n"])]),
    "dot": Program(LINE, "z = sum(x.*y)", 262144, 1, [("dot", ["a", "a", "a", "n"])]),
    "histogram": Program("x = vec[uint8]({n})\nx[:] = 256*pattern({n}, 37, 1021)\n", "h = histogram(x)", 65536, 1,
                         [("histogram", ["b", "a", "n"])]),
    "box": Program(IMAGE, "box_filter(x, y)", 128, 2, [("box", ["a", "a", "n", "n"])]),
    "gauss": Program(IMAGE + "t = zeros({n},{n})\nw = zeros(1,13)\n", "gauss_filter(x, t, y, w)", 128, 2,
                     [("gauss_rows", ["a", "a", "a", "n", "n"]), ("gauss_columns", ["a", "a", "a", "n", "n"])]),
    "jacobi": Program(IMAGE + "v = zeros({n},{n})\n", "parallel_do(size(x), x, y, v, sweep)", 128, 2,
                      [("jacobi", ["a", "a", "a", "n", "n"])]),
    "nlmeans": Program(IMAGE, "nlmeans_filter(x, y)", 64, 2, [("nlmeans", ["a", "a", "n", "n"])]),
    "bilateral": Program(IMAGE, "bilateral_filter(x, y)", 64, 2, [("bilateral", ["a", "a", "n", "n"])]),
    "mandelbrot": Program("y = zeros({n},{n})\n", "draw(y)", 128, 2, [("mandelbrot", ["a", "n", "n"])]),
    "nbody": Program("p = zeros(3,{n})\nf = zeros(3,{n})\n", "attract(p, f)", 512, 1, [("nbody", ["a", "a", "n"])]),
    "blackscholes": Program(LINE + "s = 10 + 20*x\nk = 10 + 20*y\nt = 0.25 + 2*x\nc = zeros({n})\n",
                            "prices(s, k, t, c)", 65536, 1, [("blackscholes", ["u", "u", "u", "a", "n"])]),
    "life": Program("now = mat[bool]({n},{n})\nnext = mat[bool]({n},{n})\n",
                    "parallel_do(size(now), now, next, step)", 128, 2, [("life", ["b", "b", "n", "n"])]),
    "kmeans": Program(LINE + "c = zeros(2,16)\nsums = zeros(3,16)\n", "parallel_do({n}, x, y, c, sums, assign)", 16384,
                      1, [("kmeans", ["a", "a", "a", "a", "n"])]),
    "tiles": Program("a = ones({n},{n})\nb = ones({n},{n})\nc = zeros({n},{n})\n", "multiply(a, b, c)", 128, 2,
                     [("tiles", ["a", "a", "a", "n", "n"])]),
}
INSTRUCTIONS, BYTES = "threads'-instructions", "bytes-of-global-memory"  # lines of the driver's report
Code = collections.namedtuple("Code", "registers spilled occupancy instructions executed bytes")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program", nargs="*")
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--driver", type=os.path.abspath, default=os.path.join(ROOT, "build", "libptx_driver.so"))
    p.add_argument("--arch", default="sm_90")
    p.add_argument("--nvcc", default="nvcc")
    p.add_argument("--ptxas", default="ptxas")
    p.add_argument("--nvdisasm", default="nvdisasm")
    p.add_argument("--write", action="store_true")
    return p.parse_args()


def run(cmd, **more):
    r = subprocess.run(cmd, capture_output=True, text=True, **more)
    if r.returncode:
        sys.exit(f"{' '.join(cmd[:6])}: {r.stdout}{r.stderr}")
    return r.stdout + r.stderr


# -- machine code ------------------------------------------------------------------------------------------------------
def occupancy(arch, registers, shared, threads=256):
    """Warps take registers by 8 a thread, blocks shared memory with 1 kB of the system's."""
    most = THREADS.get(arch, 2048)
    a_warp = (registers + 7) // 8 * 8 * 32
    blocks = min(REGISTERS // a_warp // (threads // 32), most // threads, BLOCKS,
                 SHARED // (shared + 1024) if shared else BLOCKS)
    return 100 * blocks * threads // most


def machine_code(args, folder, ptx):
    """By name of kernel: registers, spilled bytes, occupancy, instructions."""
    name, cubin = os.path.join(folder, "code.ptx"), os.path.join(folder, "code.cubin")
    with open(name, "w", encoding="utf-8") as f:
        f.write(ptx)
    said = run([args.ptxas, "-v", "-arch=" + args.arch, name, "-o", cubin])
    found = {}
    for kernel, text in re.findall(r"entry function '(\w+)'(.*?)(?=Compiling entry|\Z)", said, re.S):
        registers = int(re.search(r"Used (\d+) registers", text)[1])
        shared = re.search(r"(\d+) bytes smem", text)
        spilled = sum(map(int, re.findall(r"(\d+) bytes spill", text)))
        found[kernel] = [registers, spilled, occupancy(args.arch, registers, int(shared[1]) if shared else 0)]
    for kernel, text in re.findall(r"^\.text\.(\w+):\n(.*?)(?=^//-----|\Z)", run([args.nvdisasm, "-c", cubin]),
                                   re.S | re.M):
        code = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", text, re.M)
        while code and (code[-1] == "NOP" or code[-1].startswith("BRA `(.L") and code[-2:-1] == ["NOP"]):
            code.pop()
        found[kernel].append(sum(c != "NOP" for c in code))
    return found


# -- ours --------------------------------------------------------------------------------------------------------------
def executed(args, folder, program, text):
    """The PTX texts, and the driver's counts."""
    report, script, loaded = (os.path.join(folder, name) for name in ("report", "program.q", "loaded"))
    for name in (report, loaded):
        open(name, "w").close()
    with open(script, "w", encoding="utf-8") as f:
        f.write(f'import "{HERE}/kernels/{program}.q"\n' + text)
    env = dict(os.environ, QUASAR_CUDA=args.driver, FAKE_GPU_ARCH=args.arch[3:], FAKE_GPU_REPORT=report,
               FAKE_GPU_TEXTS=loaded, QUASAR_CACHE_DIR=os.path.join(folder, "cache"), QUASAR_LIBRARIES="never")
    run([args.qrun, "--device", "cuda", script], env=env, cwd=folder)
    with open(report, encoding="utf-8") as f:
        counts = dict((k, int(v)) for k, v in (line.split() for line in f))
    with open(loaded, encoding="utf-8") as f:
        return ["// quasar:" + t for t in f.read().split("// quasar:")[1:]], counts


def ours(args, folder, name, p):
    n = p.n
    setup, work = p.setup.format(n=n), p.work.format(n=n)
    before, base = executed(args, folder, name, setup + "sync()\n")
    after, full = executed(args, folder, name, setup + "sync()\n" + work + "\nsync()\n")
    codes = [machine_code(args, folder, t)["kernel"] for t in after if t not in before]
    positions = n**p.rank
    return joined(codes, (full[INSTRUCTIONS] - base[INSTRUCTIONS])/positions, (full[BYTES] - base[BYTES])/positions)


def joined(codes, instructions, bytes_):
    """Combines several kernels: the most registers, the least occupancy, the sum of their instructions."""
    r, s, o, i = zip(*codes)
    return Code(max(r), sum(s), min(o), sum(i), instructions, bytes_)


# -- CUDA C ------------------------------------------------------------------------------------------------------------
class Launch(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint*3), ("block", ctypes.c_uint*3), ("shared", ctypes.c_uint),
                ("params", ctypes.c_char_p), ("nparams", ctypes.c_size_t)]


Find = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64),
                        ctypes.POINTER(ctypes.c_uint64))


class Host(ctypes.Structure):
    _fields_ = [("find", Find), ("ud", ctypes.c_void_p), ("seed", ctypes.c_uint64), ("race_free", ctypes.c_bool)]


class Interpreter:
    """tests/support/ptx/ptx.h, in this process."""

    def __init__(self, path, ptx):
        self.lib, self.blocks, why = ctypes.CDLL(path), [], ctypes.create_string_buffer(400)
        self.lib.ptx_load.restype = ctypes.c_void_p
        self.lib.ptx_executed.restype = self.lib.ptx_asked.restype = ctypes.c_uint64
        self.host = Host(Find(self.find), None, 1, False)
        self.module = ctypes.c_void_p(self.lib.ptx_load(ptx.encode(), ctypes.byref(self.host), why,
                                                        ctypes.c_size_t(400)))
        if not self.module:
            sys.exit(why.value.decode())

    def find(self, _, at, begin, end):
        for block in self.blocks:
            first = ctypes.addressof(block)
            if first <= at < first + len(block):
                begin[0], end[0] = first, first + len(block)
                return True
        return False

    def memory(self, n, byte):
        block = ctypes.create_string_buffer(bytes([byte])*(n + 256), n + 256)
        self.blocks.append(block)
        return (ctypes.addressof(block) + 255) // 256 * 256

    def launch(self, kernel, grid, block, params):
        """Instructions times threads, bytes of global memory."""
        before = self.lib.ptx_executed(), self.lib.ptx_asked()
        launch = Launch((*grid, 1), (*block, 1), 0, params, len(params))
        if self.lib.ptx_run(self.module, self.lib.ptx_entry(self.module, kernel.encode()), ctypes.byref(launch)):
            sys.exit(f"{kernel} of cuda.cu fails")
        self.blocks.clear()
        return self.lib.ptx_executed() - before[0], self.lib.ptx_asked() - before[1]


def packed(interpreter, p, kinds):
    out, size = b"", 16 * p.n**p.rank
    for k in kinds:
        if k in ("a", "b", "u"):  # zeros, bytes, floats that are not 0
            piece, wide = interpreter.memory(size, {"a": 0, "b": 1, "u": 0x40}[k]).to_bytes(8, "little"), 8
        else:
            piece, wide = p.n.to_bytes(4, "little") if k == "n" else bytes(ctypes.c_float(k)), 4
        out += bytes(-len(out) % wide) + piece
    return out


def theirs(interpreter, machine, p):
    block = (256, 1) if p.rank == 1 else (16, 16) if p.peers[0][0] == "tiles" else (32, 8)
    grid = (p.n // block[0], 1 if p.rank == 1 else p.n // block[1])
    if p.peers[0][0] in ("sum", "dot"):
        grid = (min(grid[0], 64), 1)
    total = [interpreter.launch(k, grid, block, packed(interpreter, p, kinds)) for k, kinds in p.peers]
    positions = p.n**p.rank
    return joined([machine[k] for k, _ in p.peers], sum(t[0] for t in total)/positions,
                  sum(t[1] for t in total)/positions)


# -- the table ---------------------------------------------------------------------------------------------------------
def row(name, a, b):
    ratio = lambda x, y: "" if x <= 1.1*y else "**"
    cell = lambda x, y, form="{:.0f}": f"{ratio(x, y)}{form.format(x)}{ratio(x, y)} / {form.format(y)}"
    worse = "**" if a.occupancy < 0.9*b.occupancy else ""
    return (f"| {name} | {cell(a.registers, b.registers)} | {a.spilled} / {b.spilled} | "
            f"{worse}{a.occupancy}{worse} / {b.occupancy} | {cell(a.instructions, b.instructions)} | "
            f"{cell(a.executed, b.executed)} | {cell(a.bytes, b.bytes, '{:.1f}')} |")


def versions(args):
    first = lambda cmd: re.search(r"release [\d.]+", run([cmd, "--version"]))[0].removeprefix("release ")
    return f"nvcc {first(args.nvcc)}, ptxas {first(args.ptxas)}, {args.arch}, {datetime.date.today():%-d %B %Y}"


def main():
    args = arguments()
    for tool in (args.nvcc, args.ptxas, args.nvdisasm):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            return 0
    lines = [f"{versions(args)}; ours / nvcc's; bold: ours is worse by more than a tenth.", "",
             "| program | registers | bytes spilled | occupancy, % | machine instructions | PTX executed, a position "
             "| bytes asked for, a position |", "|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "peers.ptx")
        run([args.nvcc, "-ptx", "-arch=" + args.arch, os.path.join(HERE, "peers", "cuda.cu"), "-o", ptx])
        with open(ptx, encoding="utf-8") as f:
            text = f.read()
        machine, interpreter = machine_code(args, folder, text), Interpreter(args.driver, text)
        for name, p in PROGRAMS.items():
            if args.program and name not in args.program:
                continue
            lines.append(row(name, ours(args, folder, name, p), theirs(interpreter, machine, p)))
            print(lines[-1], flush=True)
    if args.write and not args.program:
        path = os.path.join(ROOT, "docs", "devices.md")
        with open(path, encoding="utf-8") as f:
            doc = f.read()
        head, rest = doc.split(BEGIN)
        with open(path, "w", encoding="utf-8") as f:
            f.write(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
