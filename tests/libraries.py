#!/usr/bin/env python3
"""Products, transforms, solving and convolutions by the libraries of a CUDA device, compared with what the processor
makes of them.

    python3 tests/libraries.py --qrun build/qrun

Each result is told by its largest element and by a sum with weights, which every element changes."""
import argparse, os, re, subprocess, sys, tempfile

PROGRAM = """
function y = data(n, m, seed)
    y = reshape(mod(mod(0..n*m-1, 1009) .* seed, 997) ./ 997 - 0.5, n, m)
end
function [] = tell(name, y)
    w = data(size(y,0), size(y,1), 7919)
    print(name, " ", max(abs(y)), " ", sum(real(y).*w), " ", sum(imag(y).*w), " ", numel(y))
end
a = data(300, 310, 5443)
b = data(310, 290, 6113)
s = data(331, 331, 4801) + 20.*eye(331)
c = complex(a, data(300, 310, 3571))
z = complex(b, data(310, 290, 2909))
tell("product", a*b)
tell("turned", transpose(b)*transpose(a))
tell("complex_product", c*z)
tell("fft1", fft1(a))
tell("ifft1", ifft1(c))
tell("fft2", fft2(c))
tell("ifft2", ifft2(c))
tell("prime", fft2(s))
tell("solve", solve(s, data(331, 3, 2203)))
tell("inv", inv(s))
tell("chol", chol(s*transpose(s)))
t = sqrt(data(90, 70, 5443) + 0.5)
h = t[0..69,:] + transpose(t[0..69,:])
[q, r] = qr(t)
tell("qr_q", q)
tell("qr_r", r)
[u, d, v] = svd(t)
tell("svd_u", u)
tell("svd_s", d)
tell("svd_v", v)
[u, d, v] = svd(transpose(t))
tell("flat_u", u)
tell("flat_v", v)
[v, d] = symeig(h)
tell("symeig_v", v)
tell("symeig_d", d)
x = reshape(data(16, 1200, 5443), [4,4,40,30])
w = reshape(data(8, 36, 6113), [8,4,3,3])
y = conv_planes(x, w, [2,1], 1, 1, 1)
tell("layer", reshape(y, [32,600]))
tell("layer_input", reshape(conv_planes_input(y, w, [4,4,40,30], [2,1], 1, 1, 1), [16,1200]))
tell("layer_weights", reshape(conv_planes_weights(x, y, [8,4,3,3], [2,1], 1, 1, 1), [8,36]))
"""
LINE = re.compile(r"^(\w+) (\S+) (\S+) (\S+) (\d+)$", re.M)


def run(qrun, script, device, precision):
    """({name: (largest, real sum, imaginary sum, elements)}, what --explain says)"""
    r = subprocess.run([qrun, "--device", device, "--precision", precision, "--explain", script], capture_output=True,
                       text=True, timeout=300, env=dict(os.environ, QUASAR_LIBRARIES="always"))
    if r.returncode:
        sys.exit("%s, precision %s: exit status %d\n%s" % (device, precision, r.returncode, r.stderr))
    return {m[1]: tuple(map(float, m.groups()[1:])) for m in LINE.finditer(r.stdout)}, r.stderr


def differences(found, wanted, tolerance):
    for name, (largest, *sums, count) in wanted.items():
        bound = tolerance * largest * count**0.5
        for got, right in zip(found[name], (largest, *sums)):
            if not abs(got - right) <= bound:
                yield "%s: got %.9g, the processor %.9g, more than %.3g apart" % (name, got, right, bound)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--qrun", default="build/qrun")
    args, wrong = p.parse_args(), []
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "libraries.q")
        with open(script, "w") as f:
            f.write(PROGRAM)
        for precision, tolerance in (("32", 1e-4), ("64", 1e-11)):
            found, said = run(args.qrun, script, "cuda", precision)
            wanted, _ = run(args.qrun, script, "cpu", precision)
            assert len(wanted) == PROGRAM.count("\ntell("), wanted
            there = set(re.findall(r": ([^:]+) runs on cuda:", said))
            for what in re.findall(r": [^:]+ runs on (?:cpu:|cuda:\d+ as kernels).*", said):
                print("precision %s%s" % (precision, what))
            wrong += [] if there else ["precision %s: no library was used" % precision]
            wrong += ["precision %s: %s" % (precision, d) for d in differences(found, wanted, tolerance)]
            on_cuda = ", ".join(sorted(there)) or "none"
            print("precision %s: %d results, on cuda: %s" % (precision, len(wanted), on_cuda))
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
