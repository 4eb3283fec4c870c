function y = outer(x)
    function z = inner(a)
        z = a*factor
    end
    factor = 3
    y = inner(x)
    factor = 5
    y = [y, inner(x)]
end
print outer(2)
