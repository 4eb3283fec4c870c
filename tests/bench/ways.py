#!/usr/bin/env python3
"""What each way of an NVIDIA device brings that QUASAR_CUDA_WITHOUT turns off: a table, on standard output.

    tests/bench/ways.py [--qrun build/qrun] [--device cuda] [--divide n] [--rounds 3]

Each case of tests/bench/ways.q is made for one of them. The program runs with all ways and without that one, by turns;
the shortest time counts. --divide makes everything smaller, to try the program where there is no such device."""
import argparse, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", type=os.path.abspath, default=os.path.join(HERE, "..", "..", "build", "qrun"))
    p.add_argument("--device", default="cuda")
    p.add_argument("--divide", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    return p.parse_args()


def times(args, without):
    cmd = [args.qrun, "--device", args.device, os.path.join(HERE, "ways.q"), str(args.divide)]
    r = subprocess.run(cmd, capture_output=True, text=True, env=dict(os.environ, QUASAR_CUDA_WITHOUT=without))
    if r.returncode:
        sys.exit(f"without {without or 'nothing'}: {r.stderr or r.stdout}")
    return {name: float(ms) for name, ms in (line.split() for line in r.stdout.split("\n") if line)}


def main():
    args = arguments()
    ways = list(times(args, ""))
    best = {(way, without): float("inf") for way in ways for without in ("", way)}
    for _ in range(args.rounds):
        for without in ("", *ways):
            for way, ms in times(args, without).items():
                if (way, without) in best:
                    best[way, without] = min(best[way, without], ms)
    print("| way | with it, ms | without it, ms | without / with |\n|---|---|---|---|")
    for way in ways:
        with_it, without = best[way, ""], best[way, way]
        print(f"| {way} | {with_it:.2f} | {without:.2f} | {without/with_it:.2f} |")


if __name__ == "__main__":
    main()
