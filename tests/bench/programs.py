#!/usr/bin/env python3
"""Measures programs as users write them first, without tuning, beside the same in C, NumPy, Numba, JAX and LuaJIT.

    tests/bench/programs.py [--qrun build/qrun] [--quick] [--group GROUP] [--only NAME]... [--check] [--explain]

A program is programs/GROUP/NAME.q with the functions `inputs`, whose results are the arguments, and NAME; its peers are
in GROUP.py, GROUP.c and GROUP.lua of that folder.  All results are compared with ours before anything is timed; a
program with a wrong result fails.  Each side is a process with one thread that stays.  The sides take turns, and the
time is the least processor time of a call, which the runner reads from the clock of the process, so that other work on
the machine does not count.  The first call, which compiles, is reported on its own.  The ratio is the time of the best
peer over ours: below 1 we are slower.  --check compares only, at a tiny size, without Numba's compiler and JAX.
--write puts the tables into docs/benchmarks.md."""
import argparse, datetime, importlib.util, math, os, re, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "programs")
sys.path[:0] = [HERE, FOLDER]
import forms, kernels
from kernels import ROOT, Gone, Ours, Progress, Side, cpu_name, text_of

BEGIN, END = "<!-- programs: written by tests/bench/programs.py -->", "<!-- programs: end -->"
LIMIT = 0.8  # a ratio below it is a miss
ONE_THREAD = dict(XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1", JAX_PLATFORMS="cpu",
                  PYTHONDONTWRITEBYTECODE="1", **{f"{v}_NUM_THREADS": "1" for v in ("OMP", "OPENBLAS", "MKL", "NUMBA")})
DRIVER = """import "{folder}/inputs.q"
import "{path}"
bench_requests = fopen("/dev/stdin")
{given} = inputs({size})
function bench_results = bench_call()
    {results} = {name}({arguments})
    bench_results = {{{cell}}}
end
say("made")
fgets(bench_requests)
bench_file = fopen(args()[0], "wb")
for bench_result in bench_call()
    fwrite(bench_file, isscalar(bench_result) ? float64([bench_result]) : float64(bench_result))
end
fclose(bench_file)
say("ready")
answer(bench_requests, bench_call)
"""


class Wrong(Exception):
    pass


def spent(side):
    """Seconds of processor time that the process of a side has used."""
    return time.clock_gettime((~side.process.pid << 3) | 2)


def call(side):
    """Milliseconds of processor time of one call."""
    before = spent(side)
    side.run(1)
    return (spent(side) - before) * 1e3


class Program(Ours):
    """Our program: one process for each, which first makes the inputs."""
    patience = 600

    def prepare(self, p, size, path):
        self.stop()
        script = os.path.join(os.path.dirname(path), f"{p.name}.q")
        with open(script, "w") as f:
            f.write(driver(p, size))
        self.start(script, path)
        if self.ask() != "made":
            raise Gone("unexpected answer")
        before = spent(self)
        if self.ask("first") != "ready":
            raise Gone("unexpected answer")
        self.first = (spent(self) - before) * 1e3


class Peer(Side):
    patience = 600

    def prepare(self, p, size, path):
        super().prepare(f"{p.name}:{size}", 1, path)


def driver(p, size):
    path = f"{FOLDER}/{p.group}/{p.name}.q"
    with open(path, encoding="utf-8") as f:
        text = f.read()
    functions = {name: (forms.names(r), forms.names(a)) for r, name, a in re.findall(forms.FUNCTION, text, re.M)}
    for name in ("inputs", p.name):
        if name not in functions:
            raise Wrong(f"{path} has no function {name}")

    def several(names):
        return names[0] if len(names) == 1 else "[" + ", ".join(names) + "]"
    given = functions["inputs"][0]
    results = [f"bench_{k}" for k in range(len(functions[p.name][0]))]
    return DRIVER.format(folder=FOLDER, path=path, size=size, name=p.name, given=several(given),
                         arguments=", ".join(given), results=several(results), cell=", ".join(results))


def compile_peers(args, groups, folder):
    """The compilers whose libraries are in the folder now."""
    found = []
    for kind, compiler in (("C", "gcc"), ("Clang", "clang")):
        if kind == "Clang" and args.check or not shutil.which(compiler):
            continue
        found.append(kind)
        for g in groups:
            source, library = f"{FOLDER}/{g}.c", f"{folder}/{kind}_{g}.so"
            if os.path.exists(library) and os.path.getmtime(library) > os.path.getmtime(source):
                continue
            if not kernels.compile_c(library, source, ["-shared", "-fPIC", "-I", FOLDER], compiler):
                sys.exit(f"programs.py: {compiler} does not compile {source}")
    return found


def sides(args, groups, folder, tmp):
    """Ours first, then the peers that are installed; and a sentence about each that is not."""
    env = dict(os.environ, **ONE_THREAD, NUMBA_CACHE_DIR=os.path.join(folder, "numba"))
    ours = [args.qrun, "--device", "cpu", "--threads", "1", "--no-warnings"]
    ours += ["--loops", "always"] * args.check
    variants = {"quasar": ours} if args.check else {"quasar": ours, "fast math": [*ours, "--fast-math"]}
    cache = dict(os.environ, QUASAR_CACHE_DIR=os.path.join(tmp, "cache"))
    if args.check:
        cache.pop("QUASAR_CACHE_DIR")

    def side(kind, name, cmd, env):
        return kind(name, cmd, env, open(os.path.join(tmp, f"{name}.log"), "w"))
    found = [side(Program, name, cmd, cache) for name, cmd in variants.items()]
    kinds, missing = compile_peers(args, groups, folder), []
    if args.check:
        env["BENCH_PLAIN_PYTHON"] = "1"
    for kind, module in (("NumPy", "numpy"), ("Numba", "numba"), ("JAX", "jax"), ("CPython", "sys")):
        if args.check and kind == "JAX":
            continue
        if args.check or importlib.util.find_spec(module):
            kinds.append(kind)
        else:
            missing.append(f"{kind} (python -m pip install {module})")
    missing += [f"{kind} (no {c})" for kind, c in (("C", "gcc"), ("Clang", "clang")) if not shutil.which(c)]
    found += [side(Peer, kind, [sys.executable, f"{FOLDER}/peers.py", kind, folder], env) for kind in kinds]
    if shutil.which("luajit"):
        found.append(side(Peer, "LuaJIT", ["luajit", f"{FOLDER}/scripts.lua"], env))
    else:
        missing.append("LuaJIT (no luajit)")
    return found, missing


def difference(numpy, ours, theirs, p):
    """None, or a sentence about how far two results are apart."""
    a, b = numpy.fromfile(ours), numpy.fromfile(theirs)
    if a.shape != b.shape:
        return f"{a.size} numbers instead of {b.size}"
    if not numpy.isfinite(b).all() or not numpy.isfinite(a).all():
        return "not all numbers are finite"
    norm = numpy.mean if p.mean else numpy.max
    apart, limit = norm(numpy.abs(a - b)), p.tolerance * norm(numpy.abs(b))
    return None if apart <= limit else f"differs by {apart:.3g}, the limit is {limit:.3g}"


def prepare(numpy, p, size, found, tmp):
    """The sides that have the program, with equal results; ours first."""
    ready, first = [], os.path.join(tmp, "quasar.result")
    for s in found:
        if isinstance(s, Peer) and not (p.group == "scripts" if s.name == "LuaJIT" else s.name in p.peers):
            continue
        path = os.path.join(tmp, f"{s.name}.result".replace(" ", ""))
        try:
            s.prepare(p, size, path)
        except Gone as why:
            raise Wrong(f"{s.name}: {why}")
        wrong = s is not found[0] and difference(numpy, first, path, p)
        if wrong:
            raise Wrong(f"{s.name} and quasar: {wrong}")
        ready.append(s)
    if len(ready) == 1:
        raise Wrong("no peer is installed")
    return ready


def measure(ready, rounds):
    """The least milliseconds of each side; one that takes seconds has fewer turns."""
    best, used = {s.name: math.inf for s in ready}, {s.name: 0 for s in ready}
    for s in ready:
        if isinstance(s, Program):
            call(s), call(s)  # what is compiled only after a while
    for r in range(rounds):
        for s in ready:
            if r == 0 or used[s.name] < 1500:
                t = call(s)
                best[s.name] = min(best[s.name], t)
                used[s.name] += t
    return best


def fastest_peer(best):
    return min((t, name) for name, t in best.items() if name not in ("quasar", "fast math"))


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def report(rows, names):
    """The tables of the groups, the means and the misses, as lines; rows are {name: (group, first, best)}."""
    names = [n for n in names if any(n in best for _, _, best in rows.values())]
    ratio = {n: fastest_peer(best)[0] / best["quasar"] for n, (_, _, best) in rows.items()}
    fast = {n: fastest_peer(best)[0] / best["fast math"] for n, (_, _, best) in rows.items()}
    groups = list(dict.fromkeys(g for g, _, _ in rows.values()))
    yield f"| group | programs | geometric mean | below {LIMIT} | with `--fast-math` |\n|---|---|---|---|---|"
    for g in [*groups, "all"]:
        mine = [n for n in rows if g in (rows[n][0], "all")]
        yield (f"| {g} | {len(mine)} | {mean([ratio[n] for n in mine]):.2f} | {sum(ratio[n] < LIMIT for n in mine)} "
               f"| {mean([fast[n] for n in mine]):.2f} |")
    yield f"\n| program | ratio | fast math | first call | {' | '.join(names)} |"
    yield f"|---|---|---|---|{'---|' * len(names)}"
    for n, (_, first, best) in rows.items():
        cells = " | ".join(f"{best[k]:.2f}" if k in best else "" for k in names)
        yield f"| {n} | {ratio[n]:.2f} | {fast[n]:.2f} | {first:.0f} | {cells} |"
    misses = sorted((r, n) for n, r in ratio.items() if r < LIMIT)
    yield f"\nBelow {LIMIT}: " + (", ".join(f"{n} {r:.2f}" for r, n in misses) or "none") + "."


def explain(args, p, size, tmp):
    """Prints how the loops and expressions of a program are compiled."""
    path = os.path.join(tmp, f"{p.name}.q")
    with open(path, "w") as f:
        f.write(driver(p, size))
    r = subprocess.run([args.qrun, "--device", "cpu", "--threads", "1", "--explain", path, os.devnull], text=True,
                       input="first\n1\n1\n", capture_output=True)
    print("\n".join(l.replace(FOLDER + "/", "") for l in r.stderr.splitlines() if f"/{p.name}.q" in l and tmp not in l))


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(ROOT, "build", "qrun"))
    p.add_argument("--quick", action="store_true", help="two rounds instead of six")
    p.add_argument("--check", action="store_true", help="compare the results at tiny sizes only")
    p.add_argument("--explain", action="store_true", help="print how loops and expressions are compiled")
    p.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    p.add_argument("--group", action="append", help="the programs of this group")
    p.add_argument("--only", action="append", metavar="NAME", help="this program")
    return p


def main():
    parser = options()
    args = parser.parse_args()
    try:
        import numpy
        import peers
    except ImportError as missing:
        sys.exit(f"programs.py needs NumPy for the inputs and results of the peers: {missing}")
    table = peers.load()
    for given, known in ((args.only, table), (args.group, peers.GROUPS)):
        for name in given or ():
            if name not in known:
                parser.error(f"there is no {name}; there are {' '.join(known)}")
    chosen = [p for p in table.values() if (not args.only or p.name in args.only)
              and (not args.group or p.group in args.group)]
    folder = os.path.join(ROOT, "build", "programs")
    os.makedirs(folder, exist_ok=True)
    rows, failures, progress = {}, [], Progress("programs")
    with tempfile.TemporaryDirectory() as tmp:
        if args.explain:
            for p in chosen:
                explain(args, p, p.size, tmp)
            return
        found, missing = sides(args, dict.fromkeys(p.group for p in chosen), folder, tmp)
        for done, p in enumerate(chosen):
            progress.at(done, len(chosen), p.name)
            try:
                ready = prepare(numpy, p, p.tiny if args.check else p.size, found, tmp)
                if not args.check:
                    best = measure(ready, 2 if args.quick else 6)
                    rows[p.name] = p.group, max(0, ready[0].first - best["quasar"]), best
                    t, name = fastest_peer(best)
                    progress.say(f"{p.name:24}{t / best['quasar']:6.2f}   " +
                                 "  ".join(f"{k} {v:.2f}" for k, v in best.items()))
            except (Wrong, Gone) as why:
                failures.append(f"{p.name}: {why}")
                progress.say(failures[-1])
        for s in found:
            s.stop()
            s.log.close()
    progress.clear()
    if args.check:
        print(f"programs: {len(chosen) - len(failures)} of {len(chosen)} programs equal their peers")
    else:
        text = "\n".join([f"{datetime.date.today():%d %B %Y}; {cpu_name()}, one thread; milliseconds.",
                          "Not installed, so not compared: " + "; ".join(missing) + "." if missing else "", "",
                          *report(rows, [s.name for s in found])])
        print("\n" + text)
        if args.write:
            kernels.write("docs/benchmarks.md", text, BEGIN, END)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
