function y = half(x)
    y = x/2
    if mod(x, 2) != 0
        assert(false, "half: x must be even")
    end
end
print half(4)
try
    half(3)
catch e
    print e
end
