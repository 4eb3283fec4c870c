#!/usr/bin/env python3
"""A wheel on a machine without compiler and LLVM: into an empty environment, with a PATH of nothing else, and with the
system's libLLVM hidden.  The Python example of the README runs as machine code there, and so does a script.

    make wheel && tests/wheel.py dist/*.whl"""
import glob, os, re, shutil, subprocess, sys, tempfile, venv

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACES = "/usr/lib /usr/lib64 /usr/lib/*-linux-gnu /usr/lib/llvm-*/lib /usr/local/lib".split()


def example():
    """(text, output) of the first Python example of the README."""
    with open(os.path.join(ROOT, "README.md")) as f:
        return re.search(r"```python\n(.*?)```\n\n```output\n(.*?)```", f.read(), re.S).groups()


def libraries():
    return sorted({os.path.realpath(p) for d in PLACES for p in glob.glob(d + "/libLLVM*.so*")})


def can_hide():
    return subprocess.run(["unshare", "-rm", "true"], stderr=subprocess.DEVNULL).returncode == 0


def hidden(command):
    """The command in a name space in which these files are empty; as it is when there are none."""
    files = libraries() if can_hide() else []
    hide = "for f in %s; do %s --bind /dev/null $f || exit 1; done" % (" ".join(files), shutil.which("mount"))
    return [shutil.which("unshare"), "-rm", "/bin/sh", "-c", hide + '; exec "$@"', "sh"] + command if files else command


def check(what, command, want, env, text=None):
    r = subprocess.run(hidden(command), env=env, input=text, capture_output=True, text=True, timeout=120)
    if (r.returncode, r.stdout) != (0, want):
        sys.exit("%s: status %d\n%s%s" % (what, r.returncode, r.stdout, r.stderr))
    print("pass", what)


def main():
    wheel = os.path.abspath(sys.argv[1])
    text, want = example()
    native = "\nprint(*{s for s in ('libllvmlite', 'libLLVM') if s in open('/proc/self/maps').read()})"
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        bin = os.path.join(folder, "bin")
        python, script = os.path.join(bin, "python"), os.path.join(folder, "hello.q")
        subprocess.run([python, "-m", "pip", "install", "-q", wheel, "numpy"], check=True)
        env = {"PATH": bin + ":/nothing", "HOME": folder, "QUASAR_CACHE_DIR": os.path.join(folder, "cache")}
        if libraries() and not can_hide():
            print("skipped: hiding the system's LLVM, for which name spaces are needed; QUASAR_LLVM passes it by")
            env["QUASAR_LLVM"], = glob.glob(folder + "/lib/python3*/site-packages/llvmlite/binding/libllvmlite.so")
        with open(script, "w") as f:
            f.write('import "imfilter.q"\nx = 1..100000\nprint round(sum(sin(x).^2 + cos(x).^2)/1000), numel(args())\n'
                    'py = pyimport("sys")\nprint py.prefix\n')
        check("README's example", [python, "-c", text + native], want + "libllvmlite\n", env)
        check("python -m pyquasar file.q", [python, "-m", "pyquasar", script, "a"], "1001\n%s\n" % folder, env)
        check("qrun", [os.path.join(bin, "qrun"), "-e", "print 6*7"], "42\n", env)
        check("the prompt", [python, "-m", "pyquasar"], "42\n", env, "print 6*7\n")


if __name__ == "__main__":
    main()
