% pi from points of a congruential generator
function n = inputs(size)
    n = size
end
function y = monte_carlo(n)
    seed = 12345
    inside = 0
    for k = 1..n
        seed = mod(seed*1103 + 12347, 2147483)
        x = seed/2147483
        seed = mod(seed*1103 + 12347, 2147483)
        z = seed/2147483
        if x*x + z*z < 1
            inside += 1
        end
    end
    y = 4*inside/n
end
