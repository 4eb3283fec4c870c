% exit: 0
n = 3
function y = f(k)
    if k > 1
        n = 10
    end
    y = n
end
print f(0), " ", f(2), " ", n
function y = total(x)
    for i = 0..numel(x)-1
        n += x[i]
    end
    y = n
end
print total([1,2,3]), " ", n
function [] = outer()
    a = 7
    function [] = __kernel__ k(y : vec, pos : int)
        if pos > 1
            a = a + pos
        endif
        y[pos] = a
    end
    y = zeros(4)
    parallel_do(4, y, k)
    print y, a
    function [] = inner()
        a += 1
        print a
    end
    inner()
    inner()
    lam = (x) -> (a = a*x; a + 1)
    print lam(3), " ", a
    fact = k -> k <= 1 ? 1 : k*fact(k-1)
    print fact(5)
end
outer()
function [] = never()
    n += 1
end
never()
function y = late(c)
   if c
      m = 1
   end
   y = m
end
print late(true)
try
  print late(false)
catch e
  print e
end
m = 8
print late(false)
w = [1,2]
h = () -> (w[0] = 5; w = [9]; w)
print h(), w
