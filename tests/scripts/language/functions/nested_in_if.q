function y = f(fast)
    if fast
        function r = g()
            r = "fast"
        end
        y = g()
    else
        y = "slow"
    end
end
print f(true), f(false)
