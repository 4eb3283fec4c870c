% args: --quick
% The Mandelbrot set: one complex iteration per position, and a colour from how soon it escapes.

function [] = __kernel__ escape(img : cube, centre : cscalar, zoom : scalar, limit : int, pos : ivec2)
    h = size(img, 0)
    w = size(img, 1)
    c = centre + complex((pos[1] - w/2)/zoom, (pos[0] - h/2)/zoom)
    z = 0*c
    n = 0
    while n < limit && real(z)*real(z) + imag(z)*imag(z) < 64
        z = z*z + c
        n += 1
    end
    if n == limit
        img[pos[0], pos[1], 0..2] = [0, 0, 0]
    else
        s = n + 1 - log2(0.5*log2(real(z)*real(z) + imag(z)*imag(z)))
        img[pos[0], pos[1], 0..2] = 127.5*[1 + sin(0.1*s), 1 + sin(0.1*s + 2), 1 + sin(0.1*s + 4)]
    endif
end

function [] = main()
    size_vec = numel(args()) > 0 ? [64, 96, 3] : [320, 480, 3]
    img = zeros(size_vec)
    parallel_do(size_vec[0..1], img, -0.6 + 0i, size_vec[0]/2.4, 200, escape)

    % The area of the set is 1.5066; count the pixels inside.
    inside = sum(sum(img, 2) == 0)
    area = inside*(2.4/size_vec[0])^2
    printf("area of the set: about %.2f", area)
    assert(abs(area - 1.5066) < 0.1, "the area of the Mandelbrot set is about 1.51")
    if numel(args()) == 0
        makedir("out")
        imwrite("out/mandelbrot.png", img)
        print "wrote out/mandelbrot.png"
    endif
end
