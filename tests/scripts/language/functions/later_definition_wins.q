function y = f(x)
    y = 1
end
function y = f(x)
    y = 2
end
print f(0)
