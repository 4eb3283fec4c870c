% c ? a : b with a condition of several elements takes each element from one side, in all shapes and types.
x = [1,-2,3]
print x > 0 ? x : 0, x > 0 ? 1 : 2, x < 0 ? 0-x : x, [0,5,nan,-0] ? 1 : 0
print type(x > 0 ? 1 : 2), type(x > 0 ? true : false), type(x > 0 ? x < 2 : x > 2), type(x > 0 ? 123456789 : 0)
print type(x > 0 ? float64(x) : x), type(x > 0 ? uint8(x) : uint8(x)), type(x > 0 ? uint8(x) : int(x)), type(x > 0 ? uint8(x) : 0)
print type(x > 0 ? int64(x) : int64([1])), type(x > 0 ? x : 1i), x > 0 ? 1+2i : x, [1i,0,2] ? 3 : 4
print x > 0 ? 123456789 : 0.5, x > 0 ? 9007199254740993 : 0
% Broadcasting; an empty condition gives an empty array.
m = [[1,2,3],[4,5,6]]
print x > 0 ? m : 0, transpose([1,0]) ? m : x, transpose([1,0]) ? x : 0
print size([] > 0 ? 1 : 2), size(zeros(0,3) > 0 ? 1 : [1,2,3]), zeros(0) ? "all" : "not all"
% Several choices in one, and within an expression.
y = x > 2 ? 10 : x > 0 ? 20 : 30
z = 2*(x > 0 ? x : -x) + 1
print y, z
% One element chooses a branch, and only that runs.
function r = say(s)
    print s
    r = 7
end
print [5] > 3 ? say("then") : say("else"), 5 < 3 ? say("then") : say("else"), [[5]] < 3 ? 1 : say("else")
print x > 0 ? say("then") : say("else")
% Between values that are not arrays all elements of the condition decide.
print x > 0 ? "all" : "not all", x < 9 ? "all" : error("both"), x > 0 ? "all" : x, x > 0 ? x : "not all", x < 9 ? x : "all"
f = x < 9 ? (t -> t+1) : (t -> t-1)
print f(1), (x > 0 ? {1,2} : {3})
try
    print x > 0 ? [1,2] : 0
catch e
    print e
end
try
    print uint8(x) > 0 ? uint32(x) : int(-1)
catch e
    print e
end
% The same for rows in a loop, and in a kernel.
r = zeros(2,3)
for i = 0..1
    p = m[i,0..2]
    r[i,:] = p > 2 ? p.*2 : -1
end
print r
function [] = __kernel__ choose(a : mat, b : mat, pos : int)
    p = a[pos,0..2]
    q = p < [2,6,5]
    b[pos,0..2] = q ? p : -p
    b[pos,0] = p[0] > 1 ? b[pos,0] : 50
end
s = zeros(2,3)
parallel_do(2, m, s, choose)
print s
% The function is for Python, which has no such operator.
a = where(x > 0, x, 0)
b = where(1, 2, 3)
c = where(0, x, 1)
print where(x > 0, 1, x), a, b, c, where([1] > 0, x, 5)
