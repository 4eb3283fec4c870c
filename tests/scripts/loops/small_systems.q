% Inverses, systems and determinants of small matrices in loops: machine code with the bits of the interpreter.
function [x, p] = kalman(z, x, p)
    f = [[1,0.1],[0,1]]
    h = [[1,0.5],[0.25,1]]
    q = 0.01*eye(2)
    for i = 0..size(z,0)-1
        x = f*x
        p = f*p*transpose(f) + q
        k = p*transpose(h)*inv(h*p*transpose(h) + 0.5*eye(2))
        x = x + k*(transpose(z[i,:]) - h*x)
        p = (eye(2) - k*h)*p
    end
end
z = mod(reshape((0..199)*37,[100,2]),61)/61
[x, p] = kalman(z, transpose([0.0,1]), eye(2))
printf("%.9g %.9g %.9g %.9g", x[0,0], x[1,0], p[0,0], p[1,1])

% Gauss-Newton steps: the parameters of y = a*exp(-b*t)
t = (0..19)/10
y = 2*exp(-0.75*t)
a = 1.0
b = 0.5
for step = 1..8
    jj = zeros(2,2)
    jr = zeros(2,1)
    for k = 0..19
        e = exp(-b*t[k])
        j = [e, -a*t[k]*e]
        jj += transpose(j)*j
        jr += transpose(j)*(y[k] - a*e)
    end
    d = solve(jj, jr)
    a += d[0,0]
    b += d[1,0]
end
printf("%.4f %.4f", a, b)

function s = sums(n)
    s = zeros(4)
    big = float64([[1,2,0,1],[3,1,4,1],[5,9,2,6],[5,3,5,8]])
    for i = 1..n
        m = [[2,i,1],[0,1,i],[1,0,3]]
        s[0] += det(m)
        s[1] += trace(inv(m))
        s[2] += det(big*i)
        r = linsolve(m, m*transpose([1,2,3]))
        s[3] += r[2,0]
    end
end
print sums(40)

% The error of the interpreter, and the iterations before it
c = zeros(5)
try
    for i = 0..4
        v = inv([[i,3],[2,i-1]])
        c[i] = v[0,1]
    end
catch e
    print e, ": ", c
end
try
    for i = 0..4
        v = solve([[1,i],[i,1]], transpose([1,i]))
        c[i] = v[0,0]
    end
catch e
    print e, ": ", c
end

% Products of a row and a matrix, whose operands are stored by rows or columns, and of one element
m = mod(reshape((0..15)*61+2,[4,4]),17)/3
w = mod((0..3)*37+3,17)/7
e = zeros(4)
for i = 0..3
    r = w*m
    q = transpose(m)*transpose(w)
    e[i] = r[i] - q[i,0]
    o = [-0.0]*[i*0+0.5]
end
print e, " ", o
