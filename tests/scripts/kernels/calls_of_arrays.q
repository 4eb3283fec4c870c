% Parentheses after an array are distinguished from calls; CUDA idioms get an error with the right spelling.
y = zeros(3)
function [] = attempt(k, x)
    try
        parallel_do(3, x, zeros(3), k)
    catch e
        print e
    end
end
function [] = __kernel__ parentheses(x : vec, y : vec, pos : int)
    y[pos] = x(pos)
end
function [] = __kernel__ of_a_number(x : scalar, y : vec, pos : int)
    y[pos] = x(pos)
end
function [] = __kernel__ with_values(x : vec, y : vec, pos : int)
    if x[pos] > 2
        error("wrong at %d", pos)
    end
end
attempt(parentheses, [1,2,3])
attempt(of_a_number, 3)
attempt(with_values, [1,2,3])
try
    eval("print threadIdx")
catch e
    print e
end
