% options: --loops always --explain
% A compiled loop calls functions that call themselves.  If such a call fails, what the loop has done is taken back, and
% the interpreter runs it.
function g = divisor(a, b)
    g = b == 0 ? a : divisor(b, mod(a, b))
end
function s = divisors(n)
    s = 0
    for i = 1..n
        for j = 1..n
            s += divisor(i, j)
        end
    end
end
print divisors(20)

% an array that the loop writes, and an error in the middle
function y = checked(n)
    if n == 7
        error("seven")
    end
    y = n <= 0 ? 0 : n + checked(n-2)
end
y = zeros(1,6)
n = 100
try
    for i = 0..5
        n = i
        y[i] = checked(2*i + (i > 3 ? 1 : 0) - (i > 4 ? 4 : 0))
    end
catch e
    print e, " (line ", e.line, ") ", n
end
print y

% a variable that the loop sets and the function reads
g = 1
function y = reads_global(n)
    y = n <= 0 ? g : reads_global(n-1) + 1
end
s = 0
for i = 0..3
    g = 10*i
    s += reads_global(3)
end
print s

% a field
type Box : mutable class
    v : scalar
end
function y = reads_field(b : Box, n)
    y = n <= 0 ? b.v : reads_field(b, n-1)
end
b = Box(v:=1)
s = 0
for i = 0..3
    b.v = i
    s += reads_field(b, 3)
end
print s

% permutations: an array that loop and function write
function n = permutations(v, k)
    n = 0
    if k == numel(v)
        n = v[0] < v[numel(v)-1] ? 1 : 0
        return
    end
    for i = k..numel(v)-1
        [v[k], v[i]] = [v[i], v[k]]
        n += permutations(v, k+1)
        [v[k], v[i]] = [v[i], v[k]]
    end
end
v = 0..4
print permutations(v, 0), " ", v

% a recursion that is too deep
function y = deep(n)
    y = n == 0 ? 0 : deep(n-1) + 1
end
y = zeros(1,3)
try
    for i = 0..2
        y[i] = deep(10^(2*i+2))
    end
catch e
    print e.line
end
print y

% functions that are arguments stay inlined
function y = twice(f, x)
    y = f(f(x))
end
s = 0
for i = 0..3
    s += twice(x -> twice(y -> y+1, x), i)
end
print s

% ints overflow, an index is outside
function y = power(a : int64, n)
    y : int64 = 1
    if n > 0
        y = a*power(a, n-1)
    end
end
k = 0
try
    for i = 0..70
        k = power(int64(2), i)
    end
catch e
    print e, " ", i, " ", k
end
