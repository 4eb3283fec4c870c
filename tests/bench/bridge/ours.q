m = pyimport("peer")
math = pyimport("math")

function ns = best(f, n)
    ns = 1/0
    for k = 1..3
        tic()
        f(n)
        ns = min(ns, toc("")/n*1e6)
    end
end

function [] = empty(n)
    for i=1..n
    end
end
function [] = c_function(n)
    f = math.copysign
    for i=1..n
        y = f(i, 2)
    end
end
function [] = def_function(n)
    f = m.f
    for i=1..n
        y = f(i, 2)
    end
end
function [] = method(n)
    c = m.C()
    for i=1..n
        y = c.m(i)
    end
end
function [] = keyword(n)
    c = m.C()
    for i=1..n
        y = c.k(key:=i)
    end
end

n = 500000
loop = best(empty, n)
printf("C function, two scalars|%.1f", best(c_function, n) - loop)
printf("def f(x, y)|%.1f", best(def_function, n) - loop)
printf("obj.method(x)|%.1f", best(method, n) - loop)
printf("obj.method(key:=x)|%.1f", best(keyword, n) - loop)
printf("Python to function, no argument|%.1f", m.loop(() -> 1, n))
