% options: --loops always --explain
% A `while` whose iterations can be counted compiles as the `for` that does the same, also around other loops.
function [] = product(A, p, q, n)
    i = 0
    while i < n
        j = 0
        while j < n
            q[i] += A[i,j]*p[j]
            j += 1
        end
        i += 1
    end
end
n = 5
q = zeros(n)
A = reshape(0..n*n-1, [n, n])
product(A, 1..n, q, n)
print q

% Its variable has the value that the interpreter leaves, whether iterations run or not.
y = 7
for y = 5..-1..1
    y -= 1
end
print y
z = 3
while z > 0
    z -= 1
end
print z, " ", 1/z
k = 4
while 2 >= k
    k += 1
end
print k
k = -5
while k <= numel(q)
    k = k + 4
end
print k

% A bound that the body sets, a fraction and an int that becomes a number are left to conditions.
m = 6
i = 0
while i < m
    m -= 1
    i += 1
end
print i, " ", m
x = 0.5
while x < 3
    x += 1
end
print x
c = int(2)
while c < 5
    c += 1
end
print c

% A failing index reports the value that its variable has.
w = 3
try
    while w >= -2
        q[w] = w
        w -= 1
    end
catch e
    print e, " at ", w
end
print q

% `numel` may be another function.
function [] = f(numel, v)
    i = 0
    while i < numel(v)
        i += 1
        v = v + 1
    end
    print i, " ", v
end
f(v -> 10 - v, 2)

% … a built-in of another name, too.
function i = g(x, numel)
    i = 0
    while i < numel(x)
        i += 1
    end
end
print g([10,20], sum)

% The extents of an array whose elements the body sets stay.
function [] = smooth(u)
    i = 1
    while i < size(u,0) - 1
        j = 1
        while j < size(u,1) - 1
            u[i,j] = 0.5*(u[i-1,j] + u[i,j-1])
            j += 1
        end
        i += 1
    end
end
u = reshape(0..24, [5,5])
smooth(u)
print u
