% A type is resolved only when its function is called.
function y = f(x : float)
    y = x
end
function y = g(x : matrix)
    y = x
end
function y = h(x : vec[T])
    y = x
end
for k = {f, g, h}
    try
        print k(1)
    catch e
        print e
    end
end
