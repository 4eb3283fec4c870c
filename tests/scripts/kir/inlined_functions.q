% options: --dump kir
% devices: ref
% Device functions are inlined; an early return leaves a loop of one iteration; known strings choose branches.
function y = __device__ clip(x, mode : string)
    y = x
    if mode == "none"
        return
    end
    y = min(max(x, 0), 1)
end
function y = __device__ find(v, x)
    y = -1
    for i=0..2
        if v[i] == x
            y = i
            return
        end
    end
end
function [] = __kernel__ k(y : vec, pos : int)
    y[pos] = clip(y[pos], "none") + clip(y[pos], "both") + find([3,5,7], pos)
end
parallel_do(3, zeros(3), k)
