#!/usr/bin/env python3
"""The table of an NVIDIA device for docs/benchmarks.md, on standard output.

    tests/bench/gpu.py [--qrun build/qrun] [--device cuda] [--divide n]

tests/bench/gpu.q is timed; rates are told beside that of a copy on the device in the same run, sum beside PyTorch's
where that is installed; how long the first kernel takes, with code in the cache and without, is the time of a whole
process. --divide makes everything smaller, to try the program where there is no such device."""
import argparse, datetime, os, platform, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST = """function [] = __kernel__ add(x : vec, pos : int)
    x[pos] += 1
end
x = zeros(1000)
parallel_do(1000, x, add)
print sum(x)
"""
TORCH = """import torch
x = (torch.arange({n}, device="cuda") % 1021).float()/1021
times = []
for k in range(17):
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize(); a.record(); x.sum(); b.record(); torch.cuda.synchronize()
    times.append(a.elapsed_time(b))
times = sorted(times[2:])
print(torch.__version__, times[0], times[7])
"""


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default=os.path.join(HERE, "..", "..", "build", "qrun"))
    p.add_argument("--device", default="cuda")
    p.add_argument("--divide", type=int, default=1)
    return p.parse_args()


def text_of(cmd, **more):
    return subprocess.run(cmd, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)


def cases(args):
    r = text_of([args.qrun, "--device", args.device, os.path.join(HERE, "gpu.q"), str(args.divide)], timeout=600)
    rows = [line.split() for line in r.stdout.split("\n") if line]
    if r.returncode:
        sys.exit(r.stdout + r.stderr)
    return {name: tuple(map(float, rest)) for name, *rest in rows}


def torch_sum(args):
    """(version, shortest, median), or why not."""
    try:
        r = text_of([sys.executable, "-c", TORCH.format(n=67108864 // args.divide)], timeout=300)
    except subprocess.TimeoutExpired:
        return "no answer from PyTorch"
    if r.returncode:
        return (r.stderr.strip().split("\n") or ["?"])[-1]
    version, least, median = r.stdout.split()
    return version, float(least), float(median)


def first_kernel(args, warm, times=5):
    """The shortest and the median time of a process with one kernel, in milliseconds; of one without any, too."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "first.q")
        with open(path, "w", encoding="utf-8") as f:
            f.write(FIRST)
        took = []
        for k in range(times + warm):
            cache = os.path.join(folder, "cache" if warm else f"cache{k}")
            env = dict(os.environ, QUASAR_CACHE_DIR=cache, CUDA_CACHE_PATH=os.path.join(folder, "driver" + cache[-1]))
            start = time.perf_counter()
            r = text_of([args.qrun, "--device", args.device, path], env=env)
            took.append(1e3 * (time.perf_counter() - start))
            if r.returncode or r.stdout.strip() != "1000":
                return r.stderr.strip() or "wrong result"
        took = sorted(took[warm:])
        return took[0], statistics.median(took)


def heading(args):
    smi = "nvidia-smi"
    try:
        gpu = text_of([smi, "--query-gpu=name,driver_version", "--format=csv,noheader"]).stdout.strip()
    except FileNotFoundError:
        gpu = f"{args.device}, {platform.processor() or platform.machine()}"
    now = datetime.date.today()
    return f"{now.day} {now:%B %Y}; {gpu}; Linux {platform.release()}. Shortest of 15 calls, median in brackets."


def table(args):
    found = cases(args)
    reference = found["copy"][2] / found["copy"][0]
    rows = ["| case | ms | GB/s | of a copy on the device |", "|---|---|---|---|"]
    for name, (least, median, moved) in found.items():
        if name == "launches":
            rows.append(f"| one launch of 1000 | {least / 1000:.5f} ({median / 1000:.5f}) | | |")
            continue
        rate = f"{moved / least / 1e6:.0f}" if moved else ""
        share = f"{100 * moved / least / reference:.0f} %" if moved else ""
        rows.append(f"| {name} | {least:.3f} ({median:.3f}) | {rate} | {share} |")
    torch = torch_sum(args)
    if isinstance(torch, str):
        rows.append(f"\nsum was not compared with PyTorch: {torch}")
    else:
        rows.insert(6, f"| sum, PyTorch {torch[0]} | {torch[1]:.3f} ({torch[2]:.3f}) | "
                       f"{found['sum'][2] / torch[1] / 1e6:.0f} | |")
    return rows


def main():
    args = arguments()
    rows = [heading(args), ""] + table(args)
    for warm, what in ((True, "code in the cache"), (False, "no code in any cache")):
        took = first_kernel(args, warm)
        told = took if isinstance(took, str) else f"{took[0]:.0f} ms (median {took[1]:.0f})"
        rows.append(f"\nA process with one kernel, {what}: {told}")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
