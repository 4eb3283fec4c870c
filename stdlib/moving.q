% moving.q -- moving extremes (moving.c), and elements at positions along a dimension (along.c), of floats as kernels,
% for devices with memory of their own.

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

function [] = __kernel__ take_element(y : cube'unchecked, x : cube, at : cube'unchecked, pos : ivec3)
    y[pos] = x[pos[0],int(at[pos]),pos[2]]
end

function [] = __kernel__ clear_element(y : cube'unchecked, pos : ivec3)
    y[pos] = 0
end

function [] = __kernel__ add_element(y : cube, x : cube'unchecked, at : cube'unchecked, pos : ivec3)
    y[pos[0],int(at[pos]),pos[2]] += x[pos]
end

function y = elements_taken(x, at, outer, k, inner, n)
    y = uninit_like(x, outer, k, inner)
    parallel_do([outer,k,inner], y, reshape(x, [outer,n,inner]), reshape(at, [outer,k,inner]), take_element)
end

function y = elements_added(x, at, outer, k, inner, n)
    y = uninit_like(x, outer, n, inner)         % zeros would be made on the host
    parallel_do([outer,n,inner], y, clear_element)
    parallel_do([outer,k,inner], y, reshape(x, [outer,k,inner]), reshape(at, [outer,k,inner]), add_element)
end
