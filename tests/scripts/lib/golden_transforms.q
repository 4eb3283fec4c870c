% Fourier transforms agree with NumPy: tests/goldens/make.py.
g = load("tests/goldens/transforms.npz")
function [] = check(name, got, wanted)
    print name, " ", allclose(got, wanted, 1e-9, 1e-10)
end
check("fft1", fft1(g.x), g.f)
check("fft1 of a prime length", fft1(g.x[0..36]), g.prime)
check("fft1 along 0", fft1(g.m, 0), g.along)
check("fft2", fft2(g.m), g.f2)
check("fft2 of a cube", fft2(g.c), g.cube)
check("fft3", fft3(g.c), g.f3)
check("ifft1", ifft1(fft1(g.x)), g.x)
check("ifft2", ifft2(g.m), g.i2)
check("ifft3", ifft3(g.f3), g.c)
check("fftshift2", fftshift2(g.m), g.shift)
check("ifftshift2", ifftshift2(g.m), g.unshift)
x : vec = g.x
check("float32", abs(fft1(x) - g.f) < 1e-4, ones(45))
