% Type parameters of generic classes may have constraints, which each instance meets.
type pair[T : [scalar|cscalar], U] : mutable class
    a : T
    b : U
end
p = pair[scalar,int](a:=1, b:=2)
q = pair[cscalar,vec](a:=1+2j, b:=[1,2])
print p.a + p.b, " ", q.a, " ", q.b
function [] = show(p : pair[scalar,int])
    print "a pair of ", p.a, " and ", p.b
end
show(p)
function [] = __kernel__ k(p : pair[scalar,int], y : vec, pos : int)
    q = pair[scalar,int](a:=pos, b:=3)
    y[pos] = p.a*q.b + q.a
end
y = zeros(3)
parallel_do(3, p, y, k)
print y
function r = wrong(f)
    try
        f()
        r = "no error"
    catch e
        r = e.message
    end
end
print wrong(() -> pair[string,int](b:=1))
print wrong(() -> pair[vec,int](b:=1))
