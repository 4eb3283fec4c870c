#!/usr/bin/env python3
"""Built-in functions on a million elements against NumPy: the least time of one call, alternating in one run."""
import argparse, subprocess, sys, tempfile

# a b: random float32; A: a as 1000x1000; B: the same in float64; i: int32; m: a mask; k: few values; p: a permutation
CASES = [  # quasar, NumPy
    ("sum(a)", "a.sum()"), ("sum(A,0)", "A.sum(0)"), ("sum(A,1)", "A.sum(1)"), ("sum(B)", "B.sum()"),
    ("sum(i)", "i.sum()"), ("mean(a)", "a.mean()"), ("prod(a)", "a.prod()"), ("max(a)", "a.max()"),
    ("max(A,[],0)", "A.max(0)"), ("max(A,[],1)", "A.max(1)"), ("min(i)", "i.min()"), ("any(m)", "m.any()"),
    ("all(m)", "m.all()"), ("dotprod(a,b)", "a.dot(b)"), ("norm(a)", "np.linalg.norm(a)"), ("var(a)", "a.var()"),
    ("std(A,0)", "A.std(0)"), ("cumsum(a)", "a.cumsum()"), ("cumsum(A,0)", "A.cumsum(0)"),
    ("cumprod(a)", "a.cumprod()"), ("diff(a)", "np.diff(a)"), ("sort(a)", "np.sort(a)"),
    ("sort(i)", "np.sort(i)"), ("sort(B,1)", "np.sort(B,1)"), ("sort(A,0)", "np.sort(A,0)"),
    ("sort(b64)", "np.sort(b64)"),
    ("order(a)", "np.argsort(a, kind='stable')"), ("unique(a)", "np.unique(a)"), ("unique(k)", "np.unique(k)"),
    ("median(a)", "np.median(a)"), ("percentile(a,30)", "np.percentile(a,30)"),
    ("mode(k)", "np.unique(k, return_counts=True)"),
    ("find(m)", "np.argwhere(m)"), ("find_index_max(a)", "a.argmax()"), ("histogram(a,100)", "np.histogram(a,100)"),
    ("bincount(i100)", "np.bincount(i100)"), ("transpose(A)", "np.ascontiguousarray(A.T)"),
    ("permute(C,[2,0,1])", "np.ascontiguousarray(C.transpose(2,0,1))"),
    ("reshape(a,[1000,1000])", "a.reshape(1000,1000).copy()"),
    ("cat(0,A,A)", "np.concatenate((A,A),0)"), ("cat(1,A,A)", "np.concatenate((A,A),1)"),
    ("repmat(A,[2,2])", "np.tile(A,(2,2))"),
    ("circshift(A,[3,5])", "np.roll(A,(3,5),(0,1))"), ("fliplr(A)", "A[:,::-1].copy()"), ("triu(A)", "np.triu(A)"),
    ("a[p]", "a[p]"), ("a[m]", "a[m]"), ("linspace(0,1,1000000)", "np.linspace(0,1,1000000,dtype=np.float32)"),
    ("rand(1000000)", "np.random.default_rng(1).random(1000000,np.float32)"),
    ("randn(1000000)", "np.random.default_rng(1).standard_normal(1000000,np.float32)"),
    ("isnan(a)", "np.isnan(a)"), ("copy(a)", "a.copy()"), ("zeros(1000,1000)+1", "np.zeros((1000,1000),np.float32)+1"),
    ("float(i)", "i.astype(np.float32)"), ("int(a)", "a.astype(np.int32)"), ("isequal(a,a2)", "np.array_equal(a,a2)"),
    ("intersect(a,b)", "np.intersect1d(a,b)"), ("ismember(a,k)", "np.isin(a,k)"),
    ("interp1(x,y,a)", "np.interp(a,x,y)"),
    ("polyval([1,2,3],a)", "np.polyval([1,2,3],a)"), ("conv(a,w)", "np.convolve(a,w)"),
    ("meshgrid(0..999,0..999)", "np.meshgrid(np.arange(1000),np.arange(1000))"),
    ("sin(a)", "np.sin(a)"), ("floor(a)", "np.floor(a)"), ("mod(a,0.3)", "np.mod(a,np.float32(0.3))"),
    ("trapz(a)", "np.trapezoid(a)"),
    ("kron(E,E)", "np.kron(E,E)"), ("randperm(1000000)", "np.random.default_rng(1).permutation(1000000)"),
]

QUASAR = """
function [] = main()
    randseed(1)
    a = rand(1000000)
    b = rand(1000000)
    a2 = copy(a)
    A = reshape(a, [1000,1000])
    C = reshape(a, [500,500,4])
    B : mat[float64] = A
    b64 : vec[float64] = b
    i : vec[int32] = 1000000*a
    i100 : vec[int32] = 100*a
    k = floor(100*a)
    m = a > 0.5
    p = randperm(1000000)
    x = 0..0.01..1
    y = x.*x
    w = ones(15)
    E = reshape(a[0..999], [25,40])
    order = f -> sorted(f)
    best = 1e30
    for k9 = 1..{count}
        tic()
        r = {expr}
        best = min(best, toc(""))
    end
    print best
end
function o = sorted(x)
    [_, o] = sort(x)
end
"""
NUMPY = """
import numpy as np, time
g = np.random.default_rng(1)
a, b = g.random(1000000, np.float32), g.random(1000000, np.float32)
a2, A, C = a.copy(), a.reshape(1000, 1000), a.reshape(500, 500, 4)
B, b64 = A.astype(np.float64), b.astype(np.float64)
i, i100, k = (1000000*a).astype(np.int32), (100*a).astype(np.int32), np.floor(100*a)
m, p = a > 0.5, g.permutation(1000000)
x = np.arange(101, dtype=np.float32)/100
y, w, E = x*x, np.ones(15, np.float32), a[:1000].reshape(25, 40)
best = 1e30
for k9 in range({count}):
    t = time.perf_counter()
    r = {expr}
    best = min(best, time.perf_counter() - t)
print(best*1e3)
"""


def once(cmd):
    r = subprocess.run(cmd, capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr[-400:] + r.stdout[-400:])
    return float(r.stdout.split()[-1])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--qrun", required=True)
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--count", type=int, default=15)
    p.add_argument("--threads", default="0")
    p.add_argument("filter", nargs="?", default="")
    args = p.parse_args()
    print("\n### Built-in functions on a million elements, milliseconds\n")
    print("| call | quasar | numpy | ratio |\n|---|---|---|---|")
    for quasar, numpy in CASES:
        if args.filter not in quasar:
            continue
        best = [float("inf")] * 2
        with tempfile.NamedTemporaryFile("w", suffix=".q") as script:
            script.write(QUASAR.format(expr=quasar, count=args.count))
            script.flush()
            try:
                for _ in range(args.repeat):
                    best[0] = min(best[0], once([args.qrun, "--threads", args.threads, script.name]))
                    best[1] = min(best[1], once([sys.executable, "-c", NUMPY.format(expr=numpy, count=args.count)]))
            except RuntimeError as e:
                print(f"| `{quasar}` | {e} |")
                continue
        print(f"| `{quasar}` | {best[0]:.3f} | {best[1]:.3f} | {best[0] / best[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
