% args: --quick
% k-means: reduces a photograph to a few colours. The assignment of pixels and the sums per colour are kernels.

function [] = __kernel__ assign(x : cube, centres : mat, label : mat[int], sums : mat, counts : vec, pos : ivec2)
    c = x[pos[0], pos[1], 0..2]
    best = 0
    nearest = 1e30
    for k = 0..size(centres,0)-1
        d = c - centres[k, 0..2]
        dist = dotprod(d, d)
        if dist < nearest
            nearest = dist
            best = k
        endif
    end
    label[pos] = best
    sums[best, 0] += c[0]
    sums[best, 1] += c[1]
    sums[best, 2] += c[2]
    counts[best] += 1
end

function [] = __kernel__ paint(label : mat[int], centres : mat, y : cube, pos : ivec2)
    y[pos[0], pos[1], 0..2] = centres[label[pos], 0..2]
end

function [] = main()
    quick = numel(args()) > 0
    img = imread("examples/images/astronaut.png")
    if quick
        img = img[0..4..255, 0..4..255, :]
    endif
    k = 6
    centres = zeros(k, 3)
    for i = 0..k-1
        p = int((i + 0.5)*size(img,0)/k)
        centres[i,:] = img[p,p,:]
    end

    label = mat[int](size(img,0), size(img,1))
    y = zeros(size(img))
    errors = []
    for iteration = 1..10
        sums = zeros(k, 3)
        counts = zeros(k)
        parallel_do(size(img,0..1), img, centres, label, sums, counts, assign)
        parallel_do(size(img,0..1), label, centres, y, paint)
        errors = horzcat(errors, [mean((img - y).^2)])
        for i = 0..k-1
            if counts[i] > 0
                centres[i,:] = sums[i,:]/counts[i]
            endif
        end
    end
    printf("mean squared error: %.0f after 1 round, %.0f after 10", errors[0], errors[9])
    assert(errors[9] < errors[0], "the error falls")
    for i = 1..9
        assert(errors[i] <= errors[i-1]*1.0001, "the error never rises")
    end
    if !quick
        makedir("out")
        imwrite("out/kmeans.png", y)
        print "wrote out/kmeans.png"
    endif
end
