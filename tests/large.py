#!/usr/bin/env python3
"""A volume larger than memory goes through a stencil, from file to file, in bounded memory.

    tests/large.py [--gb 2] [--memory 0.3] [--qrun build/qrun] [--folder out/large]

A file of so many GB of float32 is made, of which some places are not 0; the process may have --memory GB at most; the
result is compared around those places, at borders of blocks and at the ends of the volume."""
import argparse, os, shutil, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPT = """
import "cluster.q"
function [] = __kernel__ star(x : cube'mirror, y : cube, w : vec, pos : ivec3)
    s = w[3]*x[pos]
    for k = -1..2..1
        s += w[0]*x[pos+[k,0,0]] + w[1]*x[pos+[0,k,0]] + w[2]*x[pos+[0,0,k]]
    end
    y[pos] = s
end
function [] = main(folder, slices)
    from = strcat(folder, "/x.npy")
    into = strcat(folder, "/y.npy")
    dims = [str2num(slices), 1024, 1024]
    n = [6,7,8]
    w = [1,2,3,4]
    npy_create(from, dims)
    places = {[0,0,0], [13,250,100], dims - n, floor(dims/2)}
    for at = places
        write_block(from, at, randn(n))
    end
    cluster_map(star, from, [16,256,1024], args:={w}, into:=into)
    for at = places
        x = read_block(from, at-3, n+6, "mirror")
        y = zeros(size(x))
        parallel_do(size(x), x, y, w, star)
        found = read_block(into, max(at-2, 0), min(at+n+2, dims) - max(at-2, 0))
        wanted = read_block(y, max(at-2, 0) - (at-3), size(found))
        assert(max(abs(found - wanted)) < 1e-5 && max(abs(wanted)) > 1, "wrong around ", at)
    end
end
"""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gb", type=float, default=2)
    p.add_argument("--memory", type=float, default=0.3)
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--folder", default=os.path.join(ROOT, "out/large"))
    args = p.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    if shutil.disk_usage(args.folder).free < 1.2e9*args.gb:
        print("skipped: %s has no room for a result of %g GB" % (args.folder, args.gb))
        return 0
    script = os.path.join(args.folder, "large.q")
    with open(script, "w") as f:
        f.write(SCRIPT)
    start = time.monotonic()
    slices = max(32, round(args.gb*1e9/4/1024**2))
    pid = os.spawnv(os.P_NOWAIT, args.qrun, [args.qrun, script, args.folder, str(slices)])
    _, status, used = os.wait4(pid, 0)
    for name in ("x.npy", "y.npy"):
        if os.path.exists(os.path.join(args.folder, name)):
            os.remove(os.path.join(args.folder, name))
    most = used.ru_maxrss*1024/1e9
    print("%g GB in %.0f s (%.1f s of the processor), %.3f GB of memory at most" %
          (args.gb, time.monotonic() - start, used.ru_utime + used.ru_stime, most))
    if status:
        return 1
    if most > args.memory:
        print("more than %g GB" % args.memory)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
