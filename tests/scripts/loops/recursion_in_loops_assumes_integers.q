% Loops call functions that assume integral numbers and positive moduli; where that fails, they run without assumptions.
% options: --loops always --explain
function s = steps(k)
    s = k == 1 ? 0 : 1 + steps(mod(k, 2) == 0 ? k/2 : 3*k + 1)
end
function g = divisor(a, b)
    g = b == 0 ? a : divisor(b, mod(a, b))
end
function y = halves(x)
    y = x < 1 ? x : 1 + halves(mod(x, 2) == 0 ? x/2 : (x - 1)/2)
end
function total = sum_of_steps(from, to)
    total = 0
    for i = from..to
        total += steps(i)
    end
end
function total = sum_of_divisors(n, shift)
    total = 0
    for i = 1..n
        for j = 1..n
            total += divisor(i, j + shift)
        end
    end
end
function total = sum_of_halves(x)
    total = 0
    for i = 0..numel(x)-1
        total += halves(x[i])
    end
end
print sum_of_steps(1, 300), " ", sum_of_steps(159480, 159490), " ", sum_of_steps(1, 300)
print sum_of_divisors(30, 0), " ", sum_of_divisors(30, -10), " ", sum_of_divisors(30, 0.5)
print sum_of_halves(0..40), " ", sum_of_halves(linspace(0, 4, 9)), " ", sum_of_halves(0..40)
