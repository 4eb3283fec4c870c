% The product, minimum and maximum of two masks are masks; a value stored in a mask becomes true or false.
img = [5,6,7,8]
w = (img > 5).*(img < 8)
print w, type(w), type(min(img > 5, img < 8)), max(img > 7, img < 6), type(w + w), type(w.*2), sum(w.*w), img[w]
img[w] = 0
print img
c = ((img > 0).*(img < 8)).*(img > 1)
print c, type(c), img[c], type((img > 0)*([1] > 0))
m = vec[bool](4)
m[0] = 1
m[1] = true
m[2..3] = [0,1]
m[m] = 0
m[:] = w
m .*= img > 0
m ^^= [true,false,false,true] > 0
print m, type(m)
function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
function [] = one(m, x)
    m[1] = x
end
function [] = all_of(m, x)
    m[:] = x
end
function [] = some(m, x)
    m[m] = x
end
function [] = grow(m)
    m += [1,0,0,0]
end
function [] = looped(m, x)
    for i = 0..3
        m[i] = x[i]
    end
end
function [] = __kernel__ stored(m : vec[bool], x : vec, pos : int)
    m[pos] = x[pos]
end
for x = {0.5, 5, int(2), nan, -1}
    attempt(() -> one(m, x))
    attempt(() -> some(m, x))
end
attempt(() -> all_of(m, [1,0,2,0]))
attempt(() -> some(m, [1,3]))
attempt(() -> grow(m))
attempt(() -> looped(m, [0,1,0.5,1]))
attempt(() -> looped(m, int([0,1,7,1])))
attempt(() -> parallel_do(4, m, [0,1,0,2], stored))
print type(m), m[0..1]
parallel_do(4, m, [0,1,0,1], stored)
looped(m, m > 0)
looped(m, [1,0,1,1])
print m
