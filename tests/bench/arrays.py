#!/usr/bin/env python3
"""Array operations from small to large against NumPy: time of one evaluation inside the process, loop included."""
import argparse, subprocess, sys, tempfile

CASES = [  # name, quasar expression, NumPy expression, elements, repetitions
    ("a + b", "a + b", "a + b", 8, 300000),
    ("a + b.*a", "a + b.*a", "a + b*a", 8, 200000),
    ("sum(a)", "sum(a)", "a.sum()", 8, 300000),
    ("a[3]", "a[3]", "a[3]", 8, 1000000),
    ("a + b", "a + b", "a + b", 1000, 200000),
    ("exp(a)", "exp(a)", "np.exp(a)", 1000, 20000),
    ("a + b", "a + b", "a + b", 1000000, 300),
    ("a + b.*a - 2*b", "a + b.*a - 2*b", "a + b*a - 2*b", 1000000, 200),
    ("exp(-a.*a)", "exp(-a.*a)", "np.exp(-a*a)", 1000000, 100),
    ("mean((a-b).^2)", "mean((a-b).^2)", "((a-b)**2).mean()", 1000000, 200),
    ("a[a > 0.5]", "a[a > 0.5]", "a[a > 0.5]", 1000000, 50),
    ("sort(a)", "sort(a)", "np.sort(a)", 1000000, 5),
]

QUASAR = """
function [] = main()
    a = mod((0..{n}-1)*37, 101)/101
    b = ones({n})
    for k = 1..{warm}
        y = {expr}
    end
    tic()
    for k = 1..{count}
        y = {expr}
    end
    print toc("")
end
"""
NUMPY = """
import numpy as np, time
a = (np.arange({n}, dtype=np.int64)*37 % 101).astype(np.float32)/np.float32(101)
b = np.ones({n}, np.float32)
def main():
    for k in range({warm}): y = {expr}
    t = time.perf_counter()
    for k in range({count}): y = {expr}
    print((time.perf_counter() - t)*1e3)
main()
"""


def once(cmd):
    r = subprocess.run(cmd, capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr[-400:])
    return float(r.stdout.split()[-1])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--qrun", required=True)
    p.add_argument("--repeat", type=int, default=3)
    args = p.parse_args()
    print("\n### Array operations against NumPy (float32), microseconds for one evaluation\n")
    print("| expression | elements | quasar | numpy | ratio |\n|---|---|---|---|---|")
    script = tempfile.NamedTemporaryFile("w", suffix=".q")
    for name, quasar, numpy, n, count in CASES:
        best = [float("inf")] * 2
        for _ in range(args.repeat):
            fill = dict(n=n, count=count, warm=max(1, count // 10))
            script.seek(0)
            script.truncate()
            script.write(QUASAR.format(expr=quasar, **fill))
            script.flush()
            best[0] = min(best[0], once([args.qrun, script.name]))
            best[1] = min(best[1], once([sys.executable, "-c", NUMPY.format(expr=numpy, **fill)]))
        ours, theirs = (b / count * 1e3 for b in best)
        print(f"| `{name}` | {n} | {ours:.3f} | {theirs:.3f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
