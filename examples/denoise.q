% args: --quick
% Removes noise from a photograph with non-local means: every pixel becomes an average of the pixels around it whose
% surroundings look alike.
%
%   qrun examples/denoise.q [image.png]      writes out/noisy.png and out/denoised.png
%   qrun examples/denoise.q --quick          a small part of the picture, for tests

psnr = (a, b) -> 10*log10(255^2/mean((a-b).^2))

% y: mean of the pixels within `search` of a pixel, weighted by the likeness of the (2*patch+1)² windows around the two.
% h: how alike is alike, in grey levels.
function [] = __kernel__ nlmeans(x : cube'mirror, y : cube'unchecked, search : int, patch : int, h : scalar, pos : ivec2)
    total = [0.0, 0.0, 0.0]
    weights = 0.0
    for dm = -search..search
        for dn = -search..search
            dist = 0.0
            for pm = -patch..patch
                for pn = -patch..patch
                    d = x[pos[0]+pm, pos[1]+pn, 0..2] - x[pos[0]+dm+pm, pos[1]+dn+pn, 0..2]
                    dist += d[0]*d[0] + d[1]*d[1] + d[2]*d[2]
                end
            end
            w = exp(-dist/(3*(2*patch+1)^2*h^2))
            total += w*x[pos[0]+dm, pos[1]+dn, 0..2]
            weights += w
        end
    end
    y[pos[0], pos[1], 0..2] = total/weights
end

function [] = main()
    options = args()
    path = "examples/images/astronaut.png"
    quick = false
    for k = 0..numel(options)-1
        if options[k] == "--quick"
            quick = true
        else
            path = options[k]
        endif
    end

    clean = imread(path)
    if quick
        clean = clean[24..87, 88..151, :]
    endif
    sigma = 20
    randseed(1)
    noisy = clean + sigma*randn(size(clean))

    search = quick ? 2 : 7
    denoised = uninit(size(noisy))
    tic()
    parallel_do(size(noisy,0..1), noisy, denoised, search, 1, 0.95*sigma, nlmeans)
    ms = toc("")

    before = psnr(clean, noisy)
    after = psnr(clean, denoised)
    printf("%dx%d pixels, noise sigma %d", size(clean,1), size(clean,0), sigma)
    printf("PSNR before: %.2f dB", before)
    printf("PSNR after:  %.2f dB", after)
    if !quick
        printf("time: %.0f ms", ms)
        makedir("out")
        imwrite("out/noisy.png", noisy)
        imwrite("out/denoised.png", denoised)
        print "wrote out/noisy.png and out/denoised.png"
    endif
    assert(after > before + 3, "denoising must gain at least 3 dB")
end
