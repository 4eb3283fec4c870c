% exit: 1
% The message is the message of the assert at run time if all of its parts are known.
n = 4
s = "box"
assert(false, "x is %d", 3)
assert(n == 5, "%s has %d of %g", s, n+1, 0.5)
assert(n == 5, "parts ", n, s)
assert(n == 5, "bad %d %d", n)
assert(n == 5, "unknown %d", numel([1,2]))
assert(n == 5, s)
