% Random numbers of a linear congruential generator.
function n = inputs()
    n = 500000
end
function y = int_before(n)
    y = zeros(1, n)
    s = int(1)
    for i = 0..n-1
        s = mod(s*16807, 2147483647)
        y[i] = s
    end
end
function y = number_before(n)
    y = zeros(1, n)
    s = 1
    for i = 0..n-1
        s = mod(s*16807, 2147483647)
        y[i] = s
    end
end
function y = with_quotient(n)
    y = zeros(1, n)
    s = 1
    for i = 0..n-1
        s = s*16807
        s = s - 2147483647*floor(s/2147483647)
        y[i] = s
    end
end
function s = next(s)
    s = mod(s*16807, 2147483647)
end
function y = with_function(n)
    y = zeros(1, n)
    s = 1
    for i = 0..n-1
        s = next(s)
        y[i] = s
    end
end
