% A slice whose length differs from position to position is an error that says what to write instead.
% devices: ref cpu opencl
function [] = __kernel__ clipped(x : mat, y : mat, r : int, n : int, pos : ivec2)
    y[pos] = sum(x[max(0,pos[0]-r)..min(n-1,pos[0]+r), pos[1]])
end
function [] = __kernel__ in_loops(x : mat, y : mat, r : int, n : int, pos : ivec2)
    s = 0.0
    for k = max(0,pos[0]-r)..min(n-1,pos[0]+r)
        s += x[k,pos[1]]
    end
    y[pos] = s
end
function [] = __kernel__ by_mode(x : mat'safe, y : mat, r : int, n : int, pos : ivec2)
    y[pos] = sum(x[pos[0]-r..pos[0]+r, pos[1]])
end
for f = {clipped,in_loops,by_mode}
    y = zeros(4, 2)
    try
        parallel_do(size(y), reshape(1..8, [4,2]), y, int(1), int(4), f)
        print transpose(y)
    catch e
        print e
    end
end
