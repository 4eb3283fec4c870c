% A quotient of complex numbers has the same zeros, NaNs and digits on every path: also for real array divisors
% and for numbers that complex64 cannot hold.
function [] = agree(name, f)
    a = f()
    setenv("QUASAR_LIBRARIES", "always")
    b = f()
    setenv("QUASAR_LIBRARIES", "never")
    for part = {real, imag}
        x = part(a)
        y = part(b)
        for i = 0..numel(x)-1
            same = x[i] == y[i] ? (x[i] != 0 || 1/x[i] == 1/y[i]) : isnan(x[i]) && isnan(y[i])
            if !same
                print name, ": element ", i, " is ", x[i], " on the host, ", y[i], " on a device"
            end
        end
    end
end
setenv("QUASAR_LIBRARIES", "never")
x = complex64(complex([0, -0.0, 1, -1, 3, inf, 0, -0.0], [1, 1, 0, -0.0, -0.0, 1, 0, -0.0]))
for y = {-32768, 3, -0.25, 1e300, -1e300, 1e-300, 0.1, -0.1}
    agree(sprintf("by %g", y), () -> x ./ y)
    agree(sprintf("all by %g", y), () -> x ./ int16([1, -1, 2, -2, -32768, 3, 7, -7]))
end
print x ./ int16(-32768), " ", 1j ./ x[0..1]
