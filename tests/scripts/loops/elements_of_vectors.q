% options: --loops always --explain
% for x in v: loops over the elements of vectors are compiled.
function [s,x] = total(v)
    s = 0
    for x in v
        if x == 3, continue, end
        if x > 90, break, end
        s += x
    end
end
function s = twice(m, w)
    s = 0
    for i = 0..size(m,0)-1
        for x in w
            s += m[i,0]*x
        end
        for y in [1,2,i]
            s += y
        end
        for y in 5
            s += y
        end
    end
end
function c = nested(v)
    c = 0
    for x in v
        for y in v
            if y > x, c += 1, end
        end
    end
end
function [] = change(v)
    for x in v
        v[2] = 7
        v[0] = x
    end
end
function s = firsts(v)
    s = -1
    for x in v
        if x > 2
            s = x
            return
        end
    end
end
function [] = scale(v, y)
    k = 0
    for x in v
        y[k] = x*2
        k += 1
    end
end
function [] = __kernel__ kk(y : vec, w : vec3, v : vec, pos : int)
    s = 0.0
    for x in w
        if x > 2, continue, end
        s += x
    end
    y[pos] = s
end
v = [1,2,3,4,5.5]
[s,x] = total(v)
print s, x, type(x)
[s,x] = total(int([1,2,3,99,5]))
print s, x, type(x)
[s,x] = total(uint8([1,2]))
print s,x
[s,x] = total([true,false])
print s,x, type(x)
z = 0i
for x in [1+2i,3], z += x*x, end
print z, x
print twice(ones(3,2), [1,2]), twice(ones(3,2), 0..40)
print nested(0..9)
w = [1,2,3,4], change(w), print w
w = zeros(40), change(w), print w[0..3]
print firsts([1,2,3,4]), firsts([1])
y = zeros(5), scale(v,y), print y
for x in {1,"a",[2,3]}
  print x
end
for x = [7,8], print x, end
for [a,b] in {[1,2],[3,4]}
  print a, b
end
for r in [[1,2],[3,4]]
  print r
end
s = 0
for x in zeros(0)
 s += 1
end
print s
t = 0
for x in 0..999
  t += x
end
print t, x
in = 4
for in in [1,2], print in, end
y = zeros(4)
parallel_do(4, y, [1,2,3], [1,2,3,4], kk)
print y
