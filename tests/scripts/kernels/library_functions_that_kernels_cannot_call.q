% An error in a library function is reported with its name, at the call in the kernel.
function [] = __kernel__ designs(x : vec, y : vec, pos : int)
    y[pos] = butter(2, 0.5)[0] + x[pos]
end
function [] = __kernel__ filters(x : vec, y : vec, pos : int)
    y[pos] = medfilt1(x[pos], 3)
end
function [] = __kernel__ multiplies(x : vec, y : vec, pos : int)
    y[pos] = cross([1,2], [3,4])[0]
end
function [] = attempt(k)
    try
        parallel_do(3, ones(3), zeros(3), k)
    catch e
        printf("line %d: %s\n", e.line, e.message)
    end
end
attempt(designs)
attempt(filters)
attempt(multiplies)
