fact = n -> n <= 1 ? 1 : n*fact(n-1)
print fact(5)
function y = f(k)
   g = n -> n <= 1 ? k : n*g(n-1)
   y = g(5)
end
print f(2)
function y = nest(a)
   function r = even(n)
      r = n == 0 ? a : odd(n-1)
   end
   function r = odd(n)
      r = n == 0 ? -a : even(n-1)
   end
   y = [even(10), odd(10)]
end
print nest(7)
f2 = x -> later + x
later = 5
print f2(1)
