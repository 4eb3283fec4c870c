% What the ways of an NVIDIA device bring that QUASAR_CUDA_WITHOUT turns off; tests/bench/ways.py makes a table of it.
% Prints a row for each of them: its name and the shortest time of a run in milliseconds.  args: divisor of all sizes.
import "kernels/measure.q"

function [] = __kernel__ work(x : vec, y : vec, turns : int, pos : int)
    v = x[pos]
    for k = 1..turns
        v = v*0.999 + 0.001
    end
    y[pos] = v
end

% 64 values of each position live across barriers, and the launch names no block
function [] = __kernel__ many(x : vec'unchecked, y : vec'unchecked, n : int, pos : int, blkpos : int)
    s = shared(256)
    a = zeros(64)
    for i = 0..63
        a[i] = x[mod(pos + 97*i, n)]
    end
    for k = 1..20
        s[blkpos] = a[k]
        syncthreads
        for i = 0..63
            a[i] = a[i]*a[mod(7*i + 3, 64)] + s[mod(blkpos + k, 32)]
        end
        syncthreads
    end
    total = 0.0
    for i = 0..63
        total += a[i]
    end
    y[pos] = total
end

divisor = numel(args()) > 0 ? str2num(args()[0]) : 1
n = int(2^24/divisor)

function [] = registers()
    x = zeros(n)
    y = uninit(n)
    parallel_do(n, x, y, n, many)
    sync()
end

% arrays of ever new sizes
function [] = pool()
    for k = 1..40
        x = uninit(n + 4096*k)
        y = uninit(2*n + 4096*k)
        parallel_do(n, y, x, 1, work)
    end
    sync()
end

% the processor makes an array while the device computes with the one before
function [] = overlap()
    y = uninit(n)
    for k = 1..10
        x = ones(n)
        parallel_do(n, x, y, 4000, work)
    end
    sync()
end

% an array goes to the device, and another one comes from there
function [] = threads()
    x = ones(4*n)
    y = uninit(4*n)
    parallel_do(4*n, x, y, 1, work)
    z = y[0]
end

% sums, and operators by themselves, of an array that the device has
function [] = elements()
    x = uninit(n)
    parallel_do(n, x, x, 1, work)
    x = reshape(x, [2,n/2])
    for k = 1..5
        x = x - mean(x, 1)
    end
    sync()
end

printf("registers %.3f", shortest(7, registers))
printf("pool %.3f", shortest(7, pool))
printf("overlap %.3f", shortest(7, overlap))
printf("threads %.3f", shortest(7, threads))
printf("elements %.3f", shortest(7, elements))
