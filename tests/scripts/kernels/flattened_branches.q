% Branches whose two sides may both be computed: the result is that of taking one.
function [] = __kernel__ nested(x : mat'circular, y : mat, pos : ivec2)
    r = -1
    if x[pos] > 2
        r = x[pos + [0,1]]
        if r > 4 || (x[pos + [1,0]] == 1 && x[pos] != 3)
            r += 10
        else
            t = r
            t *= 2
            r = t + 100
        end
    elseif x[pos] == 1
        r = 1000
    end
    y[pos] = r
end

% The branch guards an access that has no bounds check.
function [] = __kernel__ guards(x : vec'unchecked, y : vec, n : int, pos : int)
    r = 0
    if pos + n < numel(x) && mod(pos, 2) == 0
        r = x[pos + n]
    end
    y[pos] = r
end

% A quotient by a value that may be 0 if the branch is not taken.
function [] = __kernel__ divides(x : vec[int], y : vec[int], pos : int)
    r = 7
    if x[pos] != 0 && int(12/x[pos]) > 2
        r = int(12/x[pos])
    end
    y[pos] = r
end

x = [[1,2,3,4],[5,6,1,1],[3,1,4,1]]
y = zeros(3,4)
parallel_do(size(x), x, y, nested)
print y
y = zeros(40)
parallel_do(40, 0..39, y, 35, guards)
print y
z = vec[int](5)
k = vec[int](5)
k[:] = [0,1,2,-3,12]
parallel_do(5, k, z, divides)
print z
