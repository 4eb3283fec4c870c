% Functions, objects, strings and modes as arguments and captures specialise the kernel; numbers are passed.
type point : mutable class
    x : scalar
    y : scalar
    data : vec
end
type pt : class
    x : scalar
    y : scalar
end
function s = __device__ len2(self : pt)
    s = self.x^2 + self.y^2
end
function y = __device__ scale(self : point, k)
    y = self.x*k
end
function [] = main()
    p = point(x:=2, y:=3, data:=[10,20,30])
    q = pt(x:=3, y:=4)
    out = zeros(3)
    parallel_do(3, out, p, q, __kernel__ (o, p : point, q : pt, pos) -> o[pos] = p.x + p.data[pos] + q.len2() + p.scale(100))
    print out
    A : vec'circular = [1,2,3]
    function [] = __kernel__ around(pos : int)
        out[pos] = A[pos+1] + A[pos-2]
    end
    parallel_do(3, around)
    print out
    double = __device__ (x) -> x*2
    function y = plus1(x)
        y = double(x) + 1
    end
    function [] = __kernel__ apply(fn, pos : int)
        out[pos] = fn(pos) + plus1(pos)
    end
    parallel_do(3, double, apply)
    print out
    parallel_do(3, plus1, apply)
    print out
    parallel_do(3, sqrt, apply)
    print out
    for a = 5..6
        add = x -> x + a
        parallel_do(3, add, apply)
        print out
    end
    for mode = {"one","two","more"}
        parallel_do(3, out, mode, __kernel__ (o, md : string, pos : int) -> o[pos] = md == "one" ? 1 : md == "two" ? 2 : 3)
        print out
    end
    parallel_do(3, out, true, __kernel__ (o, b, pos : int) -> o[pos] = b && pos > 0)
    print out
end
