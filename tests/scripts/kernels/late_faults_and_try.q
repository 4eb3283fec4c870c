% exit: 1
% Only the handler around a launch can catch its error.
function [] = __kernel__ double(x : vec, y : vec, pos : int)
    assert(x[pos] > 0, "x must be positive")
    y[pos] = 2*x[pos]
end
function [] = launch(x, y)
    parallel_do(numel(x), x, y, double)
end
y = zeros(1,4)
try
    launch([0,2,3,4], y)
    print "nobody gets here"
catch e
    print e.message, " in line ", e.line
end
launch([1,2,0,4], y)
try
    print y
catch e
    print "wrong handler"
end
