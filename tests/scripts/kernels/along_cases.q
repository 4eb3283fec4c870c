% part
% Reductions and scans as operators and functions: by host loops, and by the kernels that a GPU runs on its own arrays.
% Both paths, loops and kernels, are compared.
function [host, device] = both(f)
    setenv("QUASAR_LIBRARIES", "never")
    host = f()
    setenv("QUASAR_LIBRARIES", "always")
    device = f()
    setenv("QUASAR_LIBRARIES", "never")
end

function good = agree(a, b, bound)
    if !isreal(b)
        good = agree(real(a), real(b), bound) && agree(imag(a), imag(b), bound)
        return
    end
    same = isnan(a) == isnan(b) && (isnan(b) || a == b || abs(a - b) <= bound*abs(b))
    signs = a != 0 || b != 0 || 1./a == 1./b
    good = isequal(size(a), size(b)) && type(a) == type(b) && all(same) && all(signs)
end

function [] = check(name, f, bound)
    [host, device] = both(f)
    if (isreal(host) != isreal(device)) || !agree(device, host, bound)
        print name, ": ", device, " instead of ", host
    end
end

% A sum is accumulated in double precision in another order; products and roots are rounded once per factor.
function [] = check_all(name, x, dim)
    bound = type(x) == type(float64([0])) ? 1e-13 : 1.2e-7
    check(strcat(name, " sum"), () -> sum(x, dim), bound)
    check(strcat(name, " mean"), () -> mean(x, dim), bound)
    check(strcat(name, " prod"), () -> prod(x, dim), 4*bound)
    check(strcat(name, " any"), () -> any(x, dim), 0)
    check(strcat(name, " all"), () -> all(x, dim), 0)
    if isreal(x)
        check(strcat(name, " max"), () -> max(x, [], dim), 0)
        check(strcat(name, " min"), () -> min(x, [], dim), 0)
        check(strcat(name, " var"), () -> var(x, dim), 8*bound)
        check(strcat(name, " std"), () -> std(x, dim, 0), 8*bound)
    end
end

wave = (n, k) -> sin(float64(1..n)*k)*2
