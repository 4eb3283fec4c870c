% Histogram of a photograph, three ways that must agree: atomic increments in a kernel, per-block histograms in shared
% memory, and array expressions. Then histogram equalisation, checked by how straight the cumulative histogram becomes (black, a
% tenth of this picture, stays one step).

function [] = __kernel__ count(x : mat, h : vec[int], pos : ivec2)
    h[int(x[pos])] += 1
end

% Each block counts into its own shared array first, so that the positions of a block do not wait for the whole grid.
function [] = __kernel__ count_shared(x : mat, h : vec[int], pos : ivec2, blkpos : ivec2, blkdim : ivec2)
    local = shared_zeros(256)
    me = blkpos[0]*blkdim[1] + blkpos[1]
    syncthreads
    local[int(x[pos])] += 1
    syncthreads
    for k = me..blkdim[0]*blkdim[1]..255
        h[k] += local[k]
    end
end

function h = count_expression(x : mat)
    h = vec[int](256)
    for k = 0..255
        h[k] = sum(x == k)
    end
end

function [] = __kernel__ map_through(x : mat, table : vec, y : mat, pos : ivec2)
    y[pos] = table[int(x[pos])]
end

function [] = main()
    gray = round(mean(imread("examples/images/astronaut.png"), 2))

    h = vec[int](256)
    parallel_do(size(gray), gray, h, count)
    hs = vec[int](256)
    parallel_do([size(gray), [16,16]], gray, hs, count_shared)

    assert(sum(h) == numel(gray), "every pixel is counted once")
    assert(all(h == hs), "shared and global histograms agree")
    assert(all(h == count_expression(gray)), "kernel and array expression agree")

    cdf = cumsum(float(h), 1)/numel(gray)
    equalized = uninit(size(gray))
    parallel_do(size(gray), gray, round(255*cdf), equalized, map_through)

    h[:] = 0
    parallel_do(size(gray), equalized, h, count)
    flat = cumsum(float(h), 1)/numel(gray)
    deviation = max(abs(flat - (0..255)/255))
    printf("most frequent grey value of the equalized picture appears %d times", max(h))
    printf("largest distance of its cumulative histogram from a straight line: %.3f", deviation)
    assert(deviation < 0.1, "equalization makes the cumulative histogram nearly straight")
end
