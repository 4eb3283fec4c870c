#!/usr/bin/env python3
"""A wheel on a machine without compiler and LLVM: into an empty environment, with a PATH of nothing else, and with the
system's libLLVM hidden.  The Python example of the README runs as machine code there, and so does a script; images are
written and read.  Nothing in it asks for a newer glibc than its name says, and that is one of 2018.

    make wheel && tests/wheel.py dist/*.whl"""
import glob, os, re, shutil, subprocess, sys, tempfile, venv, zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OLDEST = (2, 28)  # RHEL 8, Debian 10, Ubuntu 18.10 and all that came later
IMAGES = """
x = reshape(linspace(0, 255, 64), [8,8])
for name = {"a.png", "a.jpg", "a.tif"}
    imwrite(name, x)
    print name, " ", max(abs(imread(name) - x)) < 9
end
print regreplace("a1b22", "[0-9]+", "-")
"""
PLACES = "/usr/lib /usr/lib64 /usr/lib/*-linux-gnu /usr/lib/llvm-*/lib /usr/local/lib".split()


def example():
    """(text, output) of the first Python example of the README."""
    with open(os.path.join(ROOT, "README.md")) as f:
        return re.search(r"```python\n(.*?)```\n\n```output\n(.*?)```", f.read(), re.S).groups()


def versions(wheel):
    """The file and the glibc that each object of the wheel asks for."""
    with zipfile.ZipFile(wheel) as z:
        for name in z.namelist():
            text = z.read(name)
            if text.startswith(b"\x7fELF"):
                asked = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", text)
                yield max((int(a), int(b)) for a, b in asked), name


def check_versions(wheel):
    named = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_", os.path.basename(wheel)).groups()))
    newest = max(versions(wheel))
    if not newest[0] <= named <= OLDEST:
        sys.exit("%s asks for glibc %d.%d: %s" % (os.path.basename(wheel), *newest[0], newest[1]))
    print("pass the oldest glibc is that of 2018; asked for is %d.%d" % newest[0])


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
    r = subprocess.run(hidden(command), env=env, cwd=env["HOME"], input=text, capture_output=True, text=True,
                       timeout=120)
    if (r.returncode, r.stdout) != (0, want):
        sys.exit("%s: status %d\n%s%s" % (what, r.returncode, r.stdout, r.stderr))
    print("pass", what)


def main():
    wheel = os.path.abspath(sys.argv[1])
    check_versions(wheel)
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
        check("images", [os.path.join(bin, "qrun"), "-"], "a.png 1\na.jpg 1\na.tif 1\na-b-\n", env, IMAGES)
        check("the prompt", [python, "-m", "pyquasar"], "42\n", env, "print 6*7\n")


if __name__ == "__main__":
    main()
