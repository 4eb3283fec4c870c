% options: --loops always --explain
% Variables that are ints, numbers or truth values on different paths: values, types and errors are those of the
% interpreter, and each loop is compiled.
function m = best(x)
    m = 0
    for i = 0..numel(x)-1
        if x[i] > m, m = x[i], end
    end
end
function [s, v] = prev(x)
    s = 0
    for i = 0..numel(x)-1
        v = i > 0 ? x[i-1] : 0
        s += v
    end
end
function s = cut(img, out)
    s = 0
    for i = 0..numel(img)-1
        c = img[i]
        if c > 100, c = 0, end
        out[i] = c
        s += c
    end
end
function s = half(img, out)
    s = 0
    for i = 0..numel(img)-1
        c = img[i]
        c = c*0.5
        out[i] = c
        s += c
    end
end
function y = csr(ptr, idx, val, x)
    n = numel(ptr)-1
    y = zeros(n)
    for i = 0..n-1
        k = ptr[i]
        t = 0.0
        while k < ptr[i+1]
            t += val[k]*x[idx[k]]
            k = k+1
        end
        y[i] = t
    end
end
function s = temp(x, img)
    s = 0
    for i = 0..numel(x)-1
        t = x[i]*0.5
        s += t
        t = img[i]
        s += t
        t = i > 3
        if t, s += 1, end
    end
end
function f = flag(x)
    f = false
    for i = 0..numel(x)-1
        if x[i] > 0.5
            f = 1
        end
    end
end
function s = lcg(n)
    s = int(1)
    for i = 1..n
        s = mod(s*5+3,1000)
    end
end
function c = down(n : int)
    c = n
    k = 0
    while c > 0
        c = c-1
        k += 1
    end
end
function c = over(n)
    c = int(n)
    d = 1
    for i = 0..3
        c = c*c
        d = i > 2 ? c : i
    end
    c = d
end
x = int([3,9,2,14,5])
u = uint8([3,9,200,14,5])
f = rand(5)
r = best(x)
print type(r), r
r = best(int([0,0]))
print type(r), r
[r,v] = prev(x)
print r,v, type(v)
out = uint8(zeros(5))
print cut(u, out), out
out = zeros(5)
print half(u, out), out
print csr(int([0,2,3]), int([0,1,1]), [1.0,2,3], [4.0,5])
print temp(f*0+0.3, u)
print flag([0.1,0.9]), flag([0.1]), type(flag([0.9]))
print lcg(0), type(lcg(0)), lcg(10), type(lcg(10))
print down(0), type(down(0)), down(7), type(down(7))
print over(2), type(over(2))
try
print over(3000000)
catch e
print e
end

% wide ints stay exact; combined with a number they are numbers
function [m, k] = wide(x, ptr)
    m = 0
    k = ptr[0]
    for i = 0..numel(x)-1
        if x[i] > m, m = x[i], end
        k = k+1
    end
end
[m, k] = wide(int64([9007199254740993,5]), int64([9223372036854775807]))
print m, " ", type(m), " ", k, " ", type(k)
[m, k] = wide(int64([-5]), int64([4]))
print m, " ", type(m), " ", k, " ", type(k)
% a zero that is a number keeps its sign
function z = zeros_of(a, n)
    z = a
    for i = 0..n-1
        z = i == 1 ? int(0) : -z
    end
end
print 1/zeros_of(0,1), " ", 1/zeros_of(0,2), " ", type(zeros_of(0,2)), " ", 1/zeros_of(int(0),1), " ", type(zeros_of(0,3))
% operators and functions of a value that is an int or a number
function [] = operations(n, y)
    v = int(6)
    t = true
    for i = 0..n-1
        row = [type_of(v+int(1)), type_of(v*v), type_of(-v), type_of(v/2), type_of(abs(v)), type_of(min(v,int(9))), _
               type_of(mod(v,int(4))), type_of(floor(v)), type_of(max(v,t)), type_of(+t), type_of(int(v)), _
               type_of(shl(floor(v),1))]
        y[i,:] = row
        v = i > 0 ? v+0.5 : v*2
        t = i
    end
end
% 1: an int, whose sum with 2^53 + 1 is exact
function k = type_of(x)
    k = int(x*int(3) - x*int(3) + int(9007199254740993)) != 9007199254740992 ? 1 : 0
end
y = zeros(3,12)
operations(3, y)
print y
