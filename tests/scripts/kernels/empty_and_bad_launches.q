y = zeros(3)
k = __kernel__ (y : vec, pos : int) -> y[pos] = 1
parallel_do(0, y, k)
parallel_do([0,5], y, __kernel__ (y : vec, pos : ivec2) -> y[pos[1]] = 1)
print y
try
    parallel_do(-1, y, k)
catch e
    print e
end
try
    parallel_do(3, k)
catch e
    print e
end
try
    parallel_do(3, y, "text")
catch e
    print e
end
try
    k(y, 3)
catch e
    print e
end
