#!/usr/bin/env python3
"""Wheels on a machine without compiler and LLVM: into an empty environment, with a PATH of nothing else, and with the
system's libLLVM hidden.  The Python example of the README runs as machine code there, and so does a script; images are
written and read.  Nothing in it asks for a newer glibc than its name says, and that is one of 2018.  One for another
processor is run by qemu, with the Python that tools/aarch64 unpacked; `python -m pyquasar` cannot start qrun there.

    make wheel && tests/wheel.py dist/*.whl"""
import glob, os, platform, re, shutil, subprocess, sys, tempfile, venv, zipfile

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


def system(arch):
    """Where the files of a system for another processor are, and what runs its programs."""
    root = os.path.join(ROOT, "out", arch, "root")
    return root, ["qemu-%s-static" % arch, "-L", root]


def libraries(root):
    return sorted({os.path.realpath(p) for d in PLACES for p in glob.glob(root + d + "/libLLVM*.so*")})


def can_hide():
    return subprocess.run(["unshare", "-rm", "true"], stderr=subprocess.DEVNULL).returncode == 0


def hide(files):
    """What a command starts with in a name space in which these files are empty; nothing when there are none."""
    if not files or not can_hide():
        return []
    text = "for f in %s; do %s --bind /dev/null $f || exit 1; done" % (" ".join(files), shutil.which("mount"))
    return [shutil.which("unshare"), "-rm", "/bin/sh", "-c", text + '; exec "$@"', "sh"]


def check(what, command, want, env, text=None):
    r = subprocess.run(command, env=env, cwd=env["HOME"], input=text, capture_output=True, text=True, timeout=300)
    if (r.returncode, r.stdout) != (0, want):
        sys.exit("%s: status %d\n%s%s" % (what, r.returncode, r.stdout, r.stderr))
    print("pass", what)


def install(wheel, folder):
    """Into an environment; by its Python."""
    venv.create(folder, with_pip=True)
    python = os.path.join(folder, "bin/python")
    subprocess.run([python, "-m", "pip", "install", "-q", wheel, "numpy"], check=True)
    return [python], [python, "-m", "pyquasar"], [os.path.join(folder, "bin/qrun")], {"PATH": folder + "/bin:/nothing"}


def install_for(arch, wheel, folder):
    """The same for another processor: the packages beside the Python of its system."""
    root, emulator = system(arch)
    version = os.path.basename(glob.glob(root + "/usr/lib/python3.*")[0])
    packages = os.path.join(folder, "lib", version, "site-packages")
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", wheel, "numpy", "--only-binary=:all:", "--target",
                    packages, "--python-version", version[len("python"):]] +
                   ["--platform=manylinux_2_%d_%s" % (n, arch) for n in range(OLDEST[1], 16, -1)], check=True)
    qrun = emulator + [packages + "/pyquasar/qrun"]
    return emulator + [root + "/usr/bin/" + version], qrun, qrun, {
        "PATH": os.environ["PATH"], "PYTHONPATH": packages, "VIRTUAL_ENV": folder, "QUASAR_PYTHON": "/usr/bin/python3"}


def check_wheel(wheel):
    check_versions(wheel)
    arch = re.search(r"manylinux_\d+_\d+_(\w+)\.whl$", wheel).group(1)
    there = arch == platform.machine()
    files = libraries("" if there else system(arch)[0])
    text, want = example()
    native = "\nprint(*{s for s in ('libllvmlite', 'libLLVM') if s in open('/proc/self/maps').read()})"
    with tempfile.TemporaryDirectory() as folder:
        python, module, qrun, env = install(wheel, folder) if there else install_for(arch, wheel, folder)
        python, module, qrun = [hide(files) + c for c in (python, module, qrun)]
        script = os.path.join(folder, "hello.q")
        env.update(HOME=folder, QUASAR_CACHE_DIR=os.path.join(folder, "cache"))
        if files and not can_hide():
            print("skipped: hiding the system's LLVM, for which name spaces are needed; QUASAR_LLVM passes it by")
            env["QUASAR_LLVM"], = glob.glob(folder + "/lib/python3*/site-packages/llvmlite/binding/libllvmlite.so")
        with open(script, "w") as f:
            f.write('import "imfilter.q"\nx = 1..100000\nprint round(sum(sin(x).^2 + cos(x).^2)/1000), numel(args())\n'
                    'py = pyimport("sys")\nprint py.prefix\n')
        check("README's example", python + ["-c", text + native], want + "libllvmlite\n", env)
        check("a file that asks Python", module + [script, "a"], "1001\n%s\n" % (folder if there else "/usr"), env)
        check("qrun", qrun + ["-e", "print 6*7"], "42\n", env)
        check("images", qrun + ["-"], "a.png 1\na.jpg 1\na.tif 1\na-b-\n", env, IMAGES)
        check("the prompt", module, "42\n", env, "print 6*7\n")


if __name__ == "__main__":
    for wheel in sys.argv[1:]:
        check_wheel(os.path.abspath(wheel))
