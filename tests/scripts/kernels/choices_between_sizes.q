% A condition of one element chooses a branch with its size, as on the host; sizes must be known before the kernel runs.
% exit: 1
function [] = __kernel__ by_argument(n : int, x : vec, y : mat, pos : int)
    a = n > 2 ? [1,2,3] : 7
    b = numel(y) > 4*n ? [x[pos],x[0]] : [x[pos],x[0],x[1]]
    c = n > 2 ? 0 : [[1,2],[3,4]]
    y[pos,0] = numel(a) + 10*numel(b) + 100*numel(c)
    y[pos,1] = sum(a) + sum(b) + sum(c)
end
function y = host(n : int, x : vec)
    y = zeros(numel(x), 2)
    for pos = 0..numel(x)-1
        a = n > 2 ? [1,2,3] : 7
        b = numel(y) > 4*n ? [x[pos],x[0]] : [x[pos],x[0],x[1]]
        c = n > 2 ? 0 : [[1,2],[3,4]]
        y[pos,0] = numel(a) + 10*numel(b) + 100*numel(c)
        y[pos,1] = sum(a) + sum(b) + sum(c)
    end
end
x = [3,1,4,1]
for n = 1..3
    y = zeros(4, 2)
    parallel_do(4, n, x, y, by_argument)
    print y[1,:], " ", isequal(y, host(n, x))
end

% Values of equal size are distinguished by position; a list of one number has the size of a number.
function [] = __kernel__ by_position(x : vec, y : vec, pos : int)
    a = x[pos] > 2 ? [x[pos],1] : [[0,5]]
    b = pos > 1 ? [x[pos]] : 5
    y[pos] = numel(a) + 10*numel(b) + 100*sum(a) + 10000*sum(b)
end
y = zeros(4)
parallel_do(4, x, y, by_position)
print y

% Otherwise it is an error, whether both branches are computed or, if they read elements, only the chosen one.
function [] = __kernel__ computed(x : vec, y : vec, pos : int)
    v = pos > 1 ? [1,2,3] : 0
    y[pos] = numel(v)
end
function [] = __kernel__ loaded(x : vec, y : vec, pos : int)
    v = x[pos] > 2 ? x[pos] : [x[0],x[1]]
    y[pos] = numel(v)
end
function [] = __kernel__ of_matrices(x : vec, y : vec, pos : int)
    v = pos > 1 ? [[1,2],[3,4]] : [1,2,3,4]
    y[pos] = numel(v)
end
try
    parallel_do(4, x, y, computed)
catch message
    print message
end
try
    parallel_do(4, x, y, of_matrices)
catch message
    print message
end
parallel_do(4, x, y, loaded)
