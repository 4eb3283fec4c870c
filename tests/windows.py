#!/usr/bin/env python3
"""Windows under a display of its own (Xvfb), where xdotool clicks, drags and types: what programs then print and what
is on the screen.  Where Xvfb, xdotool or Tk is not here, all of it is skipped, and said so."""
import argparse, ctypes, os, pty, re, select, shutil, signal, subprocess, sys, tempfile, threading, time, unittest

import parts

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ARGS = argparse.Namespace(qrun=os.path.join(ROOT, "build/qrun"), python=None)
LIMIT = 40


def missing():
    for program in ("Xvfb", "xdotool"):
        if not shutil.which(program):
            return program
    try:
        ctypes.CDLL("libtcl8.6.so"), ctypes.CDLL("libtk8.6.so")
    except OSError:
        try:
            ctypes.CDLL("libtcl8.6.so.0"), ctypes.CDLL("libtk8.6.so.0")
        except OSError:
            return "libtk8.6"
    return None


class Display:
    """An X server without a window manager: windows lie where they put themselves."""
    def __init__(self, depth=24):
        self.depth = depth

    def __enter__(self):
        r, w = os.pipe()
        command = ["Xvfb", "-displayfd", str(w), "-screen", "0", "1280x1024x%d" % self.depth, "-noreset"]
        self.server = subprocess.Popen(command, pass_fds=[w], stderr=subprocess.DEVNULL)
        os.close(w)
        with os.fdopen(r) as said:  # the whole line: a server that cannot write its end gives up
            self.name = ":" + said.readline().strip()
        return self

    def __exit__(self, *what):
        self.server.terminate()
        self.server.wait()

    def env(self):
        env = {k: v for k, v in os.environ.items() if k not in ("QUASAR_FIGURES", "WAYLAND_DISPLAY")}
        return dict(env, DISPLAY=self.name)

    def do(self, *words):
        command = ["xdotool"] + [str(w) for w in words]
        return subprocess.run(command, env=self.env(), capture_output=True, text=True).stdout

    def pixels(self, *places):
        """The pixels of the screen there, in the values of the screen."""
        words = [str(v) for place in places for v in place]
        out = subprocess.run([sys.executable, "-c", PIXELS] + words, env=self.env(), capture_output=True, text=True)
        return [int(v) for v in out.stdout.split()]


class Program:
    """A script that runs, with its output as it comes."""
    def __init__(self, display, text, command=None, cwd=None):
        self.display = display
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "program.q" if command is None else "program.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        self.run = subprocess.Popen((command or [ARGS.qrun]) + [path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True, env=display.env(), cwd=cwd or self.folder.name)
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.run.stdout))
        self.reader.start()

    @property
    def out(self):
        return "".join(self.lines)

    def read(self):
        return self.out

    def wait_for(self, text):
        end = time.time() + LIMIT
        while text not in self.read():
            if time.time() > end or (self.run.poll() is not None and text not in self.read()):
                raise AssertionError("%r was not printed, but %r" % (text, self.out))
            time.sleep(0.03)

    def finish(self):
        try:
            self.run.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.run.kill()
            raise AssertionError("it does not end; it printed %r" % self.read())
        self.reader.join()
        self.run.stdout.close()
        self.folder.cleanup()
        return self.out

    def window(self, name):
        """Number, left, top, width and height of a window when it is there."""
        end = time.time() + LIMIT
        while time.time() < end:
            found = self.display.do("search", "--onlyvisible", "--name", "^%s$" % name).split()
            if found:
                text = self.display.do("getwindowgeometry", "--shell", found[0])
                return [int(re.search(key + r"=(-?\d+)", text)[1]) for key in ("WINDOW", "X", "Y", "WIDTH", "HEIGHT")]
            time.sleep(0.05)
        raise AssertionError("there is no window %s; the program printed %r" % (name, self.read()))


def click(display, x, y, *buttons):
    display.do("mousemove", x, y)
    for b in buttons or (1,):
        display.do("click", b)


WIDGETS = """
import "Quasar.UI.dll"
f = form("Widgets")
f.width = 500
f.height = 420
heading = f.add_heading("Parameters")
slider = f.add_slider("Gain", 2, 0, 10)
box = f.add_checkbox("Active", false)
button = f.add_button("Press me")
field = f.add_text("Name", "a")
combo = f.add_combo("Map", {"viridis","gray","jet"})
bar = f.add_progress("Done", 0.25)
quit = f.add_button("Quit")
clicks = object()
clicks.n = 0
button.onclick.add(() -> (clicks.n = clicks.n + 1; print("clicked ", clicks.n)))
box.onchange.add(() -> print("box ", box.value))
slider.onchange.add(() -> print("slider ", slider.value > 2 && slider.value <= 10))
field.onchange.add(() -> print("name ", field.value))
f.onkey.add(k -> k == "F5" ? print("key ", k) : [])
quit.onclick.add(() -> f.close())
"""


class Windows(unittest.TestCase):
    def program(self, text):
        return Program(DISPLAY, text)

    def test_widgets_are_clicked(self):
        p = self.program(WIDGETS + """
print "ready"
f.wait()
print "closed ", f.closed(), " ", clicks.n, " ", box.value
""")
        p.wait_for("ready")
        number, left, top, width, height = p.window("Widgets")
        self.assertEqual((width, height), (500, 420))
        rows = {}
        for y in range(20, 330, 5):  # a column of clicks finds the widgets, whatever letters measure
            before = len(p.read())
            click(DISPLAY, left + 40, top + y)
            time.sleep(0.08)
            said = p.read()[before:]
            for word in ("clicked", "box"):
                if word in said:
                    rows.setdefault(word, y)
            if "closed" in said or p.run.poll() is not None:
                break
        self.assertIn("clicked", rows)
        self.assertIn("box", rows)
        self.assertIn("closed 1", p.finish())

    def test_keys_and_values_that_the_program_sets(self):
        p = self.program(WIDGETS + """
slider.value = 20
box.value = true
box.value = true
print "value ", slider.value
bar.value = 0.75
button.text = "Pressed"
combo.value = "jet"
print "texts ", button.text, " ", combo.value, " ", heading.text, " ", bar.value
print "ready"
f.wait()
""")
        p.wait_for("ready")
        number = p.window("Widgets")[0]
        DISPLAY.do("windowfocus", "--sync", number)
        DISPLAY.do("key", "F5")
        p.wait_for("key F5")
        p.run.terminate()
        out = p.finish()
        self.assertEqual(out.splitlines()[:5], ["slider 1", "box 1", "value 10", "texts Pressed jet Parameters 0.75",
                                                "ready"])

    def test_wrong_values_are_told(self):
        p = self.program("""
function [] = fails(f)
    try
        f()
        print "nothing is wrong"
    catch e
        print e
    end
end
function y = shown(b, x)
    b.icon = x
    y = sum(x)
end
f = form("Wrong")
fails(() -> f.add_combo("x", {}, "q"))
fails(() -> f.add_combo("x", {"a","b"}, "q"))
fails(() -> f.add_combo("x", {"a",3}))
fails(() -> f.add_slider("s", 5, 10, 1))
fails(() -> f.add_slider("s", nan, 0, 1))
fails(() -> f.add_slider("s", 0, 0, inf))
fails(() -> f.add_checkbox("s", "yes"))
fails(() -> f.add_text("s", 3))
fails(() -> f.add_progress("s", nan))
fails(() -> f.add_timer(nan))
fails(() -> f.add_timer(inf))
c = f.add_combo("C", {"viridis","b"})
s = f.add_slider("S", 9, 0, 5)
t = f.add_text("T")
b = f.add_button("B")
fails(() -> (c.value = "viridi"))
fails(() -> (c.value = 1))
fails(() -> (s.value = nan))
fails(() -> (t.value = 3))
fails(() -> (b.icon = "x"))
fails(() -> grad(x -> shown(b, x), ones(4,4)))
fails(() -> (f.title = 3))
print c.value, " ", s.value
""")
        self.assertEqual(p.finish(), """\
add_combo: choices is a cell without elements
add_combo: value must be one of the choices, got "q"; the first is "a"
add_combo: each choice must be a string, got scalar
add_slider: from and to must be finite, and from at most to, got 10 and 1
add_slider: value must be a number, got nan
add_slider: from and to must be finite, and from at most to, got 0 and inf
add_checkbox: value must be a number, got string
add_text: value must be a string, got scalar
add_progress: value must be a number, got nan
add_timer: ms must be 1 to 2147483647, got nan
add_timer: ms must be 1 to 2147483647, got inf
combo: value must be one of the choices, got "viridi"; did you mean "viridis"?
combo: value must be a string, got scalar
slider: value must be a number, got nan
text: value must be a string, got scalar
button: icon must be an image, got string
this operation has no derivative: it reads an array on which a derivative depends, and nothing is known of how; write \
stop_gradient(…) around what counts as constant
form: text must be a string, got scalar
viridis 5
""")

    def test_a_choice_has_any_letters(self):
        p = self.program("""
f = form("Choice")
f.width = 400
c = f.add_combo("C", {"first", "{b} $c [d] \\ ""e"" ;é", "last"})
c.onchange.add(() -> (print("chosen <", c.value, ">"); f.close()))
print "ready"
f.wait()
""")
        p.wait_for("ready")
        number, left, top, width, height = p.window("Choice")
        time.sleep(0.5)
        click(DISPLAY, left + 300, top + 14)
        time.sleep(0.5)
        DISPLAY.do("key", "Down", "Return")
        self.assertIn('chosen <{b} $c [d] \\ "e" ;é>', p.finish())

    def test_a_slider_is_dragged_while_the_program_computes(self):
        p = self.program("""
f = form("Slide")
f.width = 500
s = f.add_slider("Gain", 0, 0, 100)
s.onchange.add(() -> print("moved ", s.value > 0))
f.center()
print "ready"
n = 0
while s.value < 60      % no pause(): events come between statements
    n += 1
end
print "enough ", n > 0
""")
        p.wait_for("ready")
        number, left, top, width, height = p.window("Slide")
        self.assertEqual(abs(left - (1280 - width) / 2) <= 2, True)
        y = top + 16
        DISPLAY.do("mousemove", left + 248, y, "mousedown", 1)
        for x in range(252, 420, 8):
            DISPLAY.do("mousemove", left + x, y)
            if "enough" in p.read():
                break
        DISPLAY.do("mouseup", 1)
        out = p.finish()
        self.assertIn("moved 1", out)
        self.assertIn("enough 1", out)

    def test_an_image_is_zoomed_and_its_twin_with_it(self):
        p = self.program("""
img = mod(reshape(0..400*300-1, [300,400]), 256)
a = imshow(img)
b = imshow(255-img)
a.connect(b)
drawnow()
print "ready"
pause()
print a
print b
""")
        p.wait_for("ready")
        left, top = p.window("Figure 1")[1:3]
        number = p.window("Figure 2")[0]
        DISPLAY.do("windowraise", number)
        DISPLAY.do("mousemove", left + 200, top + 150)
        click(DISPLAY, left + 200, top + 150, 4, 4)
        time.sleep(0.3)
        DISPLAY.do("windowfocus", "--sync", number, "key", "--window", number, "space")
        out = p.finish()
        limits = re.findall(r"x from (\S+) to (\S+)", out)
        self.assertEqual(len(limits), 2, out)
        self.assertEqual(limits[0], limits[1])
        self.assertAlmostEqual(float(limits[0][1]) - float(limits[0][0]), 400 / 1.25 ** 2, delta=1)

    def test_hold_tells_when_the_window_is_closed(self):
        p = self.program("""
n = 0
repeat
    imshow(mod(n,255)*ones(200,300))
    n += 1
    pause(5)
    if n == 3
        print "ready"
    end
until !hold("on")
print "ended ", n > 3
""")
        p.wait_for("ready")
        number = p.window("Figure 1")[0]
        send_close(DISPLAY, number)
        self.assertIn("ended 1", p.finish())
        self.assertNotIn("Figure 2", p.out)

    def test_a_form_is_as_tall_as_what_it_holds(self):
        """Unless its height was set, too; its width alone cut off what came later."""
        for height, least, most in ("", 500, 1000), ("f.height = 333\n", 333, 333):
            p = self.program("f = form(\"Tall\")\nf.width = 470\n" + height + """
for k = 0..19
    f.add_label(sprintf("%d", k))
end
f.add_display()
drawnow()
pause(300)
print "size ", f.width, " ", f.height, "."
f.close()
""")
            size = re.search(r"size (\d+) (\d+)\.", p.finish())
            self.assertEqual(int(size[1]), 470)
            self.assertTrue(least <= int(size[2]) <= most, size[0])

    def test_a_display_shows_plots_of_a_form(self):
        p = self.program("""
f = form("Curve")
f.width = 500
f.height = 400
d = f.add_display()
x = linspace(0, 1, 50)
g:?? = d.plot(x, x.^2)
g.title = "curve"
d.subplot(1, 2, 0)
h1 = d.imshow(ones(20,20)*255)
d.subplot(1, 2, 1)
h2 = d.imshow(zeros(20,20))
h1.connect(h2)
t = f.add_timer(50)
ticks = object()
ticks.n = 0
t.ontick.add(() -> (ticks.n = ticks.n + 1;))
while ticks.n < 3 && !f.closed()
    pause(10)
end
print g
print "ticks ", ticks.n >= 3
f.close()
print f.closed(), " ", d.text
d.plot(x, x)
pause(10)
""")
        out = p.finish()
        self.assertIn("ticks 1", out)
        self.assertIn("axes 0 of 1x2", out)
        self.assertRegex(out, r"axes 1 of 1x2, equal units\n.*\n.*\n.*\n    image 20x20\n")

    def test_pixels_are_on_the_screen(self):
        """As they are where the screen has such pixels, else by Tk's photos."""
        text = """
img = zeros(200,300,3)
for n = 0..20           % the last one counts
    img[:,:,:] = 10*n
    img[0..99,0..149,0] = 255
    img[0..99,150..299,1] = 255
    img[100..199,0..149,2] = 255
    imshow(img)
    hold("on")
end
print "ready"
pause()
"""
        places = [(50, 50), (200, 50), (50, 150), (200, 150)]
        wanted = {24: [0xFFC8C8, 0xC8FFC8, 0xC8C8FF, 0xC8C8C8], 16: [0xFE38, 0xC7F8, 0xC63F, 0xC638]}
        for depth, colours in wanted.items():
            with self.subTest(depth=depth), Display(depth) as d:
                p = Program(d, text)
                p.wait_for("ready")
                left, top = p.window("Figure 1")[1:3]
                end = time.time() + LIMIT
                while (seen := d.pixels(*[(left + x, top + y) for x, y in places])) != colours and time.time() < end:
                    time.sleep(0.05)
                p.run.terminate()
                p.finish()
                self.assertEqual([hex(v) for v in seen], [hex(v) for v in colours])

    def test_progress_in_a_window(self):
        p = self.program("""
f = form("Work")
bar = f.add_progress("")
progress((part, line) -> (bar.value = part; bar.text = line))
for k = progress(1..200, "adding")
    x = k
end
print bar.value, " ", bar.text
progress(bar)
for k = progress(1..100, "again")
    x = k
end
print bar.value, " ", bar.text
progress(null)
progress(1, 2)
""")
        out = p.finish()
        self.assertRegex(out, r"^1 adding  100 %  200/200 ")
        self.assertRegex(out, r"(?m)^1 again  100 %  100/100 ")
        self.assertRegex(out, r"(?m)^ 50 %  1/2")

    def test_frame_rate(self):
        p = self.program("""
sync_framerate(50)
imshow(zeros(100,100))
hold("on")
t = time()
for n = 1..25
    imshow(10*n*ones(100,100))
    hold("on")
end
took = time()-t
print "rate ", took > 0.45
sync_framerate(0)
""")
        self.assertIn("rate 1", p.finish())

    def test_errors_of_functions_and_interrupts(self):
        p = self.program("""
f = form("Bad")
f.width = 300
f.height = 200
t = f.add_timer(20)
t.ontick.add(() -> error("from the timer"))
f.wait()
""")
        self.assertIn("from the timer", p.finish())
        self.assertEqual(p.run.returncode, 1)
        p = self.program('f = form("Waiting")\nprint "ready"\nf.wait()\n')
        p.wait_for("ready")
        time.sleep(0.2)
        p.run.send_signal(2)
        self.assertIn("interrupted", p.finish())

    def test_functions_run_while_the_prompt_waits(self):
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.update(DISPLAY.env(), TERM="dumb", HOME="/dev/null")
            os.environ.pop("QUASAR_FIGURES", None)
            os.execv(ARGS.qrun, [ARGS.qrun, "--device", "ref"])
        said = ""

        def until(text):
            nonlocal said
            end = time.time() + LIMIT
            while text not in said and time.time() < end:
                if select.select([fd], [], [], 0.1)[0]:
                    said += os.read(fd, 65536).decode(errors="replace")
            self.assertIn(text, said)
            said = said.split(text, 1)[1]
        for line in ('f = form("Prompt")', 'b = f.add_button("Hit")', 'b.onclick.add(() -> print("was ", 6*7))',
                     'print "rea", "dy"'):
            os.write(fd, (line + "\n").encode())
        until("ready")
        until("> ")
        end = time.time() + LIMIT
        while not DISPLAY.do("search", "--onlyvisible", "--name", "^Prompt$") and time.time() < end:
            time.sleep(0.05)
        time.sleep(0.5)
        click(DISPLAY, 40, 16)
        until("was 42")
        os.write(fd, b"print 7*7\n")
        until("49")
        os.write(fd, b"exit()\n")
        os.waitpid(pid, 0)

    def test_python(self):
        if not ARGS.python:
            self.skipTest("without the package for Python")
        p = Program(DISPLAY, "import sys; sys.path.insert(0, %r)\n" % ARGS.python + """
import pyquasar as q

q.init("cpu")
q.import_dll("Quasar.UI.dll")

def on_click():
    print("Clicked", flush=True)

frm = q.form("Quasar form")
frm.width = 800
frm.height = 600
button = frm.add_button("Click me")
button.onclick.add(on_click)

frm.wait() # Wait until the form is closed
print("done")
""", [sys.executable, "-u"])
        end = time.time() + LIMIT
        while p.window("Quasar form")[3:] != [800, 600] and time.time() < end:
            time.sleep(0.05)
        number, left, top, width, height = p.window("Quasar form")
        self.assertEqual((width, height), (800, 600))
        time.sleep(0.5)
        click(DISPLAY, left + 40, top + 16)
        p.wait_for("Clicked")
        send_close(DISPLAY, number)
        self.assertIn("done", p.finish())

    def test_other_threads_of_python_go_on_while_a_window_waits(self):
        if not ARGS.python:
            self.skipTest("without the package for Python")
        for wait in ("frm.wait()", "q.run_gui()", "q.pause()", "frm.open_file()"):
            with self.subTest(wait):
                with Display() as display:  # where nobody presses a key
                    p = Program(display, "import sys; sys.path.insert(0, %r)\n" % ARGS.python + OTHER_THREAD % wait,
                                [sys.executable, "-u"])
                    self.assertEqual(p.finish(), "other calls went on\nthe wait ended\nin this thread: [True]\n")

    def test_interrupts_end_waits_of_windows(self):
        if not ARGS.python:
            self.skipTest("without the package for Python")
        for wait in ("frm.wait()", "q.run_gui()", "q.pause()", "frm.open_file()"):
            with self.subTest(wait):
                with Display() as display:
                    p = Program(display, "import sys; sys.path.insert(0, %r)\n" % ARGS.python + INTERRUPTED % wait,
                                [sys.executable, "-u"])
                    p.wait_for("ready")
                    time.sleep(0.5)
                    p.run.send_signal(signal.SIGINT)
                    self.assertEqual(p.finish(), "ready\nKeyboardInterrupt\n")

    def test_a_function_of_an_event_runs_in_one_thread_at_a_time(self):
        if not ARGS.python:
            self.skipTest("without the package for Python")
        p = Program(DISPLAY, "import sys; sys.path.insert(0, %r)\n" % ARGS.python + SEVERAL_WAIT,
                    [sys.executable, "-u"])
        self.assertEqual(p.finish(), "most at once: 1\nmore than 3: True\n")

    def test_python_beside_tkinter_and_matplotlib(self):
        if not ARGS.python:
            self.skipTest("without the package for Python")
        try:
            import matplotlib.backends.backend_tkagg
        except ImportError as e:
            self.skipTest("without %s" % e.name)
        p = Program(DISPLAY, "import sys; sys.path.insert(0, %r)\n" % ARGS.python + """
import tkinter, matplotlib
matplotlib.use("TkAgg")
import matplotlib.pyplot as plt
import pyquasar as q

def tell(*words):
    print(*words, flush=True)

q.init("cpu")
q.import_dll("Quasar.UI.dll")
plt.ion()
figure = plt.figure("Plot", figsize=(3, 2))
figure.canvas.mpl_connect("button_press_event", lambda e: tell("plot clicked"))
figure.canvas.manager.window.geometry("+700+50")
plt.plot([1, 2, 3])
plt.draw()
root = tkinter.Toplevel(figure.canvas.manager.window)
root.title("Theirs")
root.geometry("200x100+700+500")
tkinter.Button(root, text="Theirs", command=lambda: tell("theirs clicked")).pack(fill="both", expand=True)
frm = q.form("Ours")
frm.width = 300
frm.height = 200
button = frm.add_button("Ours")
button.onclick.add(lambda: tell("ours clicked"))
q.imshow(q.zeros(60, 80))

def pump():
    q.drawnow()
    if frm.closed():
        root.quit()
    else:
        root.after(20, pump)

root.after(20, pump)
root.update()
tell("ready")
root.mainloop()
tell("done")
""", [sys.executable, "-u"])
        p.wait_for("ready")
        number, left, top = p.window("Ours")[:3]
        for name, place in (("Theirs", (100, 50)), ("Plot", (150, 100)), ("Ours", (40, 16)), ("Theirs", (100, 50))):
            its, x, y = p.window(name)[:3]
            DISPLAY.do("windowraise", its)
            time.sleep(0.5)
            before = len(p.out)
            click(DISPLAY, x + place[0], y + place[1])
            end = time.time() + LIMIT
            while name.lower() + " clicked" not in p.out[before:] and time.time() < end:
                time.sleep(0.05)
            self.assertIn(name.lower() + " clicked", p.out[before:])
        p.window("Figure 1")
        send_close(DISPLAY, number)
        self.assertIn("done", p.finish())


CLOSE = """
import ctypes, sys
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
x.XInternAtom.restype = ctypes.c_ulong
x.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
class Message(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", ctypes.c_ulong), ("kind", ctypes.c_ulong),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5), ("room", ctypes.c_long * 24)]
d = x.XOpenDisplay(None)
m = Message(type=33, window=int(sys.argv[1]), kind=x.XInternAtom(d, b"WM_PROTOCOLS", 0), format=32)
m.data[0] = x.XInternAtom(d, b"WM_DELETE_WINDOW", 0)
x.XSendEvent.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_long, ctypes.c_void_p]
x.XSendEvent(d, int(sys.argv[1]), 0, 0, ctypes.byref(m))
x.XFlush.argtypes = [ctypes.c_void_p]
x.XFlush(d)
"""


# A wait of 2.5 s; calls of another thread meanwhile, which then closes the window; where functions of events run.
OTHER_THREAD = """
import threading, time
import pyquasar as q

q.init("cpu")
q.import_dll("Quasar.UI.dll")
frm = q.form("Waits")
main, where, longest, calls = threading.get_ident(), set(), 0, 0
frm.add_timer(50).ontick.add(lambda: where.add(threading.get_ident() == main))

def use():
    global longest, calls, closed
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        before = time.monotonic()
        q.sum(q.ones(10))
        longest, calls = max(longest, time.monotonic() - before), calls + 1
        time.sleep(0.002)
    closed = time.monotonic()
    frm.close()

t = threading.Thread(target=use)
t.start()
%s
ended = time.monotonic()
t.join()
print("other calls went on" if calls > 5 and longest < 0.5 else (calls, longest))
print("the wait ended" if 0 < ended - closed < 2 else ended - closed)
print("in this thread:", list(where))
"""

INTERRUPTED = """
import threading, time
import pyquasar as q

q.init("cpu")
q.import_dll("Quasar.UI.dll")
frm = q.form("Waits")

def use():
    while True:
        q.sum(q.ones(10))
        time.sleep(0.001)

threading.Thread(target=use, daemon=True).start()
print("ready", flush=True)
try:
    %s
    print("it ended")
except KeyboardInterrupt:
    print("KeyboardInterrupt")
"""

SEVERAL_WAIT = """
import threading, time
import pyquasar as q

q.init("cpu")
q.import_dll("Quasar.UI.dll")
frm = q.form("Waits")
inside = most = count = 0

def tick():
    global inside, most, count
    inside, count = inside + 1, count + 1
    most = max(most, inside)
    q.sleep(30)
    time.sleep(0.01)
    inside -= 1

frm.add_timer(20).ontick.add(tick)
threads = [threading.Thread(target=f) for f in (frm.wait, q.run_gui, lambda: q.pause(3000))]
for t in threads:
    t.start()
time.sleep(2)
frm.close()
for t in threads:
    t.join()
print("most at once:", most)
print("more than 3:", count > 3)
"""

PIXELS = """
import ctypes, sys
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = x.XGetImage.restype = ctypes.c_void_p
x.XDefaultRootWindow.restype = x.XGetPixel.restype = ctypes.c_ulong
x.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
x.XGetImage.argtypes = [ctypes.c_void_p, ctypes.c_ulong] + [ctypes.c_int] * 4 + [ctypes.c_ulong, ctypes.c_int]
x.XGetPixel.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
d = x.XOpenDisplay(None)
for left, top in zip(sys.argv[1::2], sys.argv[2::2]):
    print(x.XGetPixel(x.XGetImage(d, x.XDefaultRootWindow(d), int(left), int(top), 1, 1, 0xFFFFFFFF, 2), 0, 0))
"""


def send_close(display, number):
    """Sends the message of a window manager that closes a window."""
    subprocess.run([sys.executable, "-c", CLOSE, str(number)], env=display.env())


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--qrun", default=ARGS.qrun)
    p.add_argument("--python", help="folder of the package pyquasar")
    own, rest = p.parse_known_args()
    ARGS.qrun, ARGS.python = os.path.abspath(own.qrun), own.python and os.path.abspath(own.python)
    parts.end_without(ARGS.qrun, "QUASAR_WITH_WINDOWS")
    lacks = missing()
    if lacks:
        print("windows: %d tests skipped, needs %s" % (sum(n.startswith("test_") for n in dir(Windows)), lacks))
        return
    global DISPLAY
    with Display() as DISPLAY:
        unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()
