#!/usr/bin/env python3
"""Python inside scripts, where a test needs processes and signals: the end of life, interrupts, the choice of Python.

    tests/python/inside.py [--qrun build/qrun] [name ...]"""
import argparse, glob, os, re, shutil, signal, subprocess, sys, sysconfig, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TESTS = []


def test(f):
    TESTS.append(f)
    return f


class Skip(Exception):
    pass


def run(text, env=None, check=True, timeout=60, **options):
    """Runs a script; gives its output.  Anything on stderr is a failure unless check is false."""
    with tempfile.NamedTemporaryFile("w", suffix=".q", delete=False) as f:
        f.write(text)
    try:
        r = subprocess.run([QRUN, f.name], capture_output=True, text=True, timeout=timeout,
                           env={**os.environ, **(env or {})}, **options)
    finally:
        os.unlink(f.name)
    if check:
        assert r.returncode == 0 and not r.stderr, (r.returncode, r.stdout, r.stderr)
        return r.stdout
    return r


LIFE = """
py = pyimport("builtins")
threading = pyimport("threading")
time = pyimport("time")
atexit = pyimport("atexit")
kept = {py.dict(a:=1), py.list({1,2})}
function [] = work()
  while true
    time.sleep(0.0005)
  end
end
function [] = wait_in_python(f)
  time.sleep(1000)
end
o = object()
o.d = py.dict(o:=o)
atexit.register(() -> py.print("at exit", o.d["o"] == o))
for i=1..3
  threading.Thread(target:=work, daemon:=true).start()
end
threading.Thread(target:=wait_in_python, args:=py.tuple({1}), daemon:=true).start()
threading.Thread(target:=()->time.sleep(0.01)).start()
print "end"
"""


@test
def a_hundred_exits_are_clean():
    for i in range(100):
        out = run(LIFE)
        assert out == "end\nat exit True\n", out


@test
def python_is_not_loaded_unless_it_is_asked_for():
    maps = run('print fileread("/proc/self/maps")\n')
    assert "libpython" not in maps and "_inside" not in maps
    maps = run('pyimport("sys")\nprint fileread("/proc/self/maps")\n')
    assert "libpython" in maps


def interrupted(text, after=0.8, **options):
    """Sends SIGINT to the script; gives its output and the seconds it took to end."""
    with tempfile.NamedTemporaryFile("w", suffix=".q", delete=False) as f:
        f.write(text)
    p = subprocess.Popen([QRUN, f.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert p.stdout.readline() == "ready\n"
    time.sleep(after)
    p.send_signal(signal.SIGINT)
    start = time.time()
    out = p.communicate(timeout=30)[0]
    os.unlink(f.name)
    return out, p.returncode, time.time() - start


WAITS = {
    "a loop of the script": "while true\nend",
    "a sleep of Python": "time.sleep(30)",
    "a loop of Python": "py.exec(\"while True: pass\")",
    "a callback": "py.list(py.map(x->sleep(30000), py.list({1})))",
    "a kernel": "function [] = __kernel__ k(x : vec, pos : int)\nfor i=0..20000\nx[pos] += sqrt(x[pos]+i)\nend\nend\n"
                "parallel_do(10000000, zeros(10000000), k)",
    "a sleep of the script": "sleep(30000)",
}


@test
def an_interrupt_stops_everything():
    for what, code in WAITS.items():
        text = 'py = pyimport("builtins")\ntime = pyimport("time")\npy.print("ready", flush:=true)\n' + code + "\n"
        if "kernel" in what:  # functions come first
            function, call = code.rsplit("\n", 1)
            text = function + '\npy = pyimport("builtins")\npy.print("ready", flush:=true)\n' + call + "\n"
        out, status, seconds = interrupted(text)
        assert "interrupted" in out and status == 130, (what, out, status)
        assert seconds < 0.5 * SLOW, (what, seconds)


@test
def the_prompt_goes_on_after_an_interrupt():
    p = subprocess.Popen([QRUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    def say(s):
        p.stdin.write(s + "\n")
        p.stdin.flush()
    say('py = pyimport("builtins"); time = pyimport("time"); py.print("ready", flush:=true); time.sleep(30)')
    assert p.stdout.readline() == "ready\n"
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    say('py.print(py.len(py.list({1,2})), flush:=true)')
    out = p.communicate(timeout=30)[0]
    assert out == "interrupted\n2.0\n", out


@test
def the_choice_of_python():
    with tempfile.TemporaryDirectory() as d:
        def fake(answers, code=0):
            path = os.path.join(d, "python3")
            with open(path, "w") as f:
                f.write("#!/bin/sh\n" + "".join("echo '%s'\n" % a for a in answers) + "exit %d\n" % code)
            os.chmod(path, 0o755)
            return path
        def fails(python):
            r = run('pyimport("sys")\n', env={"QUASAR_PYTHON": python}, check=False)
            assert r.returncode == 1, r
            return r.stderr
        assert "there is no Python there" in fails(d + "/nowhere")
        assert "does not run" in fails(fake([], 1))
        suffix = sysconfig.get_config_var("EXT_SUFFIX") if sysconfig.get_config_var("Py_GIL_DISABLED") else ".abi3.so"
        old = ["3.8.1", "cpython " + suffix, "/nowhere", "libpython3.8.so"]
        assert "3.9 or later is needed" in fails(fake(["x"] + old))
        static = ["3.99.1", "cpython " + suffix, "/nowhere", "libpython3.99.so.1.0"]
        text = fails(fake(["x"] + static))
        assert "linked statically" in text and "libpython3.99" in text and "apt install" in text, text
        assert "only CPython" in fails(fake(["x", "3.10.1", "pypy 0", "/", "x"]))
        assert "this Quasar was built for" in fails(fake(["x", "3.13.1", "cpython .cpython-313t-x.so", "/", "x"]))
        out = run('try\n  pyimport("sys")\ncatch e\n  print "caught"\nend\n', env={"QUASAR_PYTHON": d + "/nowhere"})
        assert out == "caught\n"


@test
def pyconfig_tells_the_choice_and_the_reason():
    path = shutil.which("python3")
    said = dict(line.split(None, 1) for line in run("pyconfig()", env={"QUASAR_PYTHON": path}).replace(
        "because of", "because").splitlines())
    assert os.path.samefile(said["Python"], path) and said["because"] == "QUASAR_PYTHON", said
    assert "libpython3" in said["library"] and re.match(r"3\.\d+\.\d+", said["version"]), said
    own = run('print pyimport("sys").version\n', env={"QUASAR_PYTHON": path})
    assert said["version"] == own.strip(), (said, own)
    with tempfile.TemporaryDirectory() as d:
        assert "there is no Python there" in run("pyconfig()", env={"QUASAR_PYTHON": d + "/no"}, check=False).stderr


@test
def every_python_that_is_here():
    """One binary, several versions; and a virtual environment."""
    seen = {}
    for path in glob.glob("/usr/bin/python3") + glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")):
        r = run('sys = pyimport("sys")\nprint pyimport("platform").python_version()\nprint sys.executable\n'
                'print pyimport("builtins").sum(pyimport("builtins").range(5))\n',
                env={"QUASAR_PYTHON": path}, check=False)
        if "or later is needed" in r.stderr or "linked statically" in r.stderr:
            continue
        assert r.returncode == 0, (path, r.stderr)
        version, executable, total = r.stdout.splitlines()
        assert total == "10" and os.path.samefile(executable, path), (path, r.stdout)
        seen[version.rsplit(".", 1)[0]] = path
    print("   ", ", ".join(sorted(seen)), end=" ")
    with tempfile.TemporaryDirectory() as d:
        subprocess.run([list(seen.values())[-1], "-m", "venv", "--without-pip", d], check=True)
        for env in ({"VIRTUAL_ENV": d, "QUASAR_PYTHON": ""}, {"QUASAR_PYTHON": d},
                    {"CONDA_PREFIX": d, "VIRTUAL_ENV": "", "QUASAR_PYTHON": ""}):
            out = run('sys = pyimport("sys")\nprint sys.prefix\nprint sys.executable\n', env=env).splitlines()
            assert os.path.samefile(out[0], d) and out[1].startswith(d), out


@test
def warnings_of_development_mode():
    """-X dev: memory hooks, resource warnings, and checks that calls leave the error indicator as they should."""
    text = open(os.path.join(ROOT, "tests/scripts/python/exceptions.q")).read()
    with tempfile.TemporaryDirectory() as d:
        for name in ("exceptions", "calls", "script_functions", "attributes"):
            path = os.path.join(ROOT, "tests/scripts/python", name + ".q")
            r = subprocess.run([QRUN, path], capture_output=True, text=True,
                               env={**os.environ, "PYTHONDEVMODE": "1", "QUASAR_TEST_DIR": d})
            assert r.returncode == 0 and not r.stderr, (name, r.stderr)
            assert r.stdout == open(path[:-2] + ".out").read(), name


@test
def many_threads():
    out = run("""
threading = pyimport("threading")
py = pyimport("builtins")
m = pyimport("_thread")
lock = threading.Lock()
total = py.list({0})
function y = fib(n)
  y = n < 2 ? n : fib(n-1) + fib(n-2)
end
function [] = work(id)
  for i=1..200
    d = py.dict(a:=i, f:=x->x+id)
    s = d["f"](i)
    o = object()
    o.d = d
    d["o"] = o
    x = py.sorted(py.list({3,1,2}), key:=v->-v)
    try
      x[10]
    catch e
      lock.acquire()
      total[0] += fib(5)
      lock.release()
    end
  end
end
threads = py.list()
for i=1..8
  threads.append(threading.Thread(target:=work, args:=py.tuple({i})))
end
for t = threads
  t.start()
end
for t = threads
  t.join()
end
print total[0]
""")
    assert out == "8000\n", out


@test
def finalisers_on_every_thread():
    out = run("""
gc = pyimport("gc")
threading = pyimport("threading")
py = pyimport("builtins")
gc.set_threshold(1)
n = py.list({0})
function [] = work()
  for i=1..300
    o = object()
    o.v = zeros(10)
    d = py.dict(o:=o, f:=() -> o)
    o.d = d
    n[0] += 1
  end
end
threads = py.list()
for i=1..8
  t = threading.Thread(target:=work)
  threads.append(t)
  t.start()
end
function [] = __kernel__ k(x : vec, pos : int)
  x[pos] = x[pos] + pos
end
x = zeros(100000)
for i=1..50
  parallel_do(size(x,1), x, k)
end
for t = threads
  t.join()
end
print n[0] > 0, x[10]
""")
    assert out == "1500\n", out


@test
def results_own_their_memory():
    """Python's side under the address sanitizer, where qrun was built with it."""
    linked = subprocess.run(["ldd", QRUN], capture_output=True, text=True).stdout
    sanitizer = re.search(r"=> (\S*/libasan\S*)", linked)
    package = os.path.join(os.path.dirname(QRUN), "python")
    if not sanitizer or not os.path.isdir(os.path.join(package, "pyquasar")):
        raise Skip("qrun has no address sanitizer, or there is no pyquasar beside it")
    tests = os.path.join(ROOT, "tests/python")
    r = subprocess.run([sys.executable, os.path.join(tests, "test_ownership.py")], capture_output=True, text=True,
                       cwd=tests, env={**os.environ, "LD_PRELOAD": sanitizer[1], "PYTHONPATH": package,
                                       "ASAN_OPTIONS": "detect_leaks=0", "QUASAR_TEST_WITHOUT": "torch jax"})
    if "No module named 'numpy'" in r.stderr:
        raise Skip("NumPy is not here")
    assert r.returncode == 0 and "AddressSanitizer" not in r.stderr, r.stderr[-6000:]


def main():
    global QRUN, SLOW
    p = argparse.ArgumentParser()
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--slow", type=float, default=1)
    p.add_argument("names", nargs="*")
    args = p.parse_args()
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    QRUN, SLOW = os.path.abspath(args.qrun), args.slow
    if subprocess.run([QRUN, "--has", "python"]).returncode:
        print("skipped: qrun --has python says no")
        return
    failed = 0
    for f in TESTS:
        if args.names and not any(n in f.__name__ for n in args.names):
            continue
        start = time.time()
        try:
            f()
            print("pass", f.__name__, "%.1f s" % (time.time() - start))
        except Skip as e:
            print("skip", f.__name__, e)
        except Exception as e:
            if "this build has no " in str(e):  # a part that CMake left out
                print("skip", f.__name__, e)
                continue
            failed += 1
            print("FAIL", f.__name__, type(e).__name__, e)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
