#!/usr/bin/env python3
"""Has nvcc make PTX of tests/cuda/cases.cu, and runs it on the interpreter of PTX (build/ptx_cases).

    tests/nvcc.py [--program build/ptx_cases] [--nvcc nvcc] [--arch sm_90] [--seeds 3]

With optimisation and without, fused multiplications aside (the C compiler of this machine, whose results are expected,
rounds twice).  Says so, and succeeds, where nvcc is not installed."""
import argparse, os, shutil, subprocess, sys, tempfile

from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default=os.path.join(ROOT, "build", "ptx_cases"))
    p.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    p.add_argument("--arch", action="append",
                   help="default: the oldest and the newest that nvcc has of sm_70 to sm_100")
    p.add_argument("--seeds", type=int, default=3, help="orders of threads and warps")
    return p.parse_args()


def known(nvcc):
    r = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True)
    have = [a for a in ("sm_70", "sm_75", "sm_80", "sm_90", "sm_100") if a in r.stdout.split()]
    return have[:1] + have[-1:]


def compile_cases(nvcc, arch, options, out):
    source = os.path.join(ROOT, "tests", "cuda", "cases.cu")
    r = subprocess.run([nvcc, "-ptx", "-arch=" + arch, "-fmad=false", "-diag-suppress", "177", *options, source, "-o",
                        out],
                       capture_output=True, text=True)
    return r.returncode and r.stdout + r.stderr


def run(program, ptx, seed):
    r = subprocess.run([program, ptx], capture_output=True, text=True, env=dict(os.environ, FAKE_GPU_SEED=str(seed)))
    return r.returncode, r.stdout


def main():
    args = arguments()
    if not shutil.which(args.nvcc):
        print("skipped: nvcc is not installed")
        return 0
    failures = done = 0
    archs = args.arch or known(args.nvcc)
    with tempfile.TemporaryDirectory() as folder, Progress("nvcc", "runs") as progress:
        for arch in archs:
            for options in ([], ["-G"]):
                ptx = os.path.join(folder, "cases.ptx")
                wrong = compile_cases(args.nvcc, arch, options, ptx)
                if wrong:
                    print(wrong)
                    return 1
                for seed in range(1, args.seeds + 1):
                    status, said = run(args.program, ptx, seed)
                    failures += status != 0
                    done += 1
                    progress.say(arch, *options, f"seed {seed}:", said.strip() or f"status {status}")
                    progress.at(done, 2*len(archs)*args.seeds)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
