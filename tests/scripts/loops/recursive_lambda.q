% options: --loops always --explain
% A lambda that calls itself through the variable that holds it is compiled like a function.
fib = n -> n < 2 ? n : fib(n-1) + fib(n-2)
print fib(15)
function y = local_lambda(n, c)
    f = k -> k < 2 ? k+c : f(k-1) + f(k-2)
    y = f(n)
end
print local_lambda(12, 3), " ", local_lambda(10, 0.5)
is_even = n -> n == 0 ? true : is_odd(n-1)
is_odd = n -> n == 0 ? false : is_even(n-1)
print is_even(10), " ", is_odd(4)
% the variable gets another value
old = fib
fib = n -> 100
print old(3)
