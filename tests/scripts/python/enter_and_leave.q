% needs: python
% devices: one
% with: enter() returns the result of __enter__, leave() and exit() end it.
m = pyimport("helper")
py = pyimport("builtins")
s = m.Scope()
print s.enter()
s.leave()
s.enter()
s.exit()
path = getenv("QUASAR_TEST_DIR") + "/x.txt"
filewrite(path, "some text")
f = py.open(path)
f.enter()
data = f.read()
f.exit()
print data, " ", f.closed
