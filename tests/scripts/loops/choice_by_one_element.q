% A condition of one element chooses a side, in compiled loops, too.
for k = 8..9
    print k < [9] ? 7 : [1,2,3]
end
function s = f(x, n)
    s = 0
    for k = 0..n-1
        w = mod(k,7) < [3] ? 1 : [0.5,0.25,0.25]
        s += sum(w)
    end
end
print f(0, 300000)
for k = 0..1
    q = k < [1] ? [k,2] : 5
    print q
end
