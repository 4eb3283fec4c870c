function y = fib(n)
    if n < 2
        y = n
        return
    end
    y = fib(n-1) + fib(n-2)
end
print fib(20)
