"""The programs of kernels/*.q in other languages of the same kind, served to the runner.

    worker.py numpy|numba|taichi|warp|halide THREADS

Lines on the standard input: "case NAME THREADS PATH" prepares a case, runs it once, writes the result (raw float32,
int32 or uint8) to PATH and answers "ready", or "none: why"; after that each line is a number n and is answered with
the shortest of n runs, in milliseconds.  Compiling and making inputs is not counted."""
import importlib, os, sys, time


def serve(peer, say):
    run = None
    for line in sys.stdin:
        word, *rest = line.split()
        if word != "case":
            say(f"{min(timed(run) for _ in range(int(word))):.6f}")
            continue
        run = None  # its arrays are freed before the next ones are made
        make = peer.CASES.get(rest[0])
        if not make:
            say(f"none: it is not written in {peer.NAME}")
            continue
        run, result = make()
        run()
        result().tofile(rest[2])
        say("ready")


def timed(run):
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries greet on the standard output

    def say(text):
        out.write(text + "\n")
        out.flush()

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    os.environ["BENCH_THREADS"] = sys.argv[2]
    serve(importlib.import_module("in_" + sys.argv[1]), say)


if __name__ == "__main__":
    main()
