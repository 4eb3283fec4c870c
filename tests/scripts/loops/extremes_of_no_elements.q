% An extreme of an empty slice is the same error in a compiled loop and in the interpreter.
function y = largest(x, n)
    y = 0
    for i = 0..n-1
        y = y*0.5 + max(x[i+1..n-1])
    end
end
function y = where_largest(x, n)
    y = 0
    for i = 0..n-1
        y = y*0.5 + argmax(x[i+1..n-1])
    end
end
function y = where_smallest(x, n)
    y = 0
    for i = 0..n-1
        y = y*0.5 + argmin(x[i+1..n-1])
    end
end
for f = {largest, where_largest, where_smallest}
    try
        print f(0.5*(0..199), 200)
    catch e
        print e
    end
end
