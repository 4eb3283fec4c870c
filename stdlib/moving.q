% moving.q -- moving extremes (moving.c) of floats as a kernel, for devices with memory of their own.

% nan loses, and -0 becomes 0.
function [] = __kernel__ moving_window(y : cube'unchecked, x : cube'unchecked, before : int, after : int, least : int, _
                                       pos : ivec3)
    best = x[pos]
    for i = max(pos[1]-before,0)..min(pos[1]+after,size(x,1)-1)
        v = x[pos[0],i,pos[2]]
        best = least > 0 ? min(best, v) : max(best, v)
    end
    y[pos] = best == 0 ? 0 : best
end

function y = moving_extreme(x, outer, n, inner, before, after, least)
    y = uninit_like(x, outer, n, inner)
    parallel_do([outer,n,inner], y, reshape(x, [outer,n,inner]), before, after, least, moving_window)
    y = reshape(y, size(x))
end
