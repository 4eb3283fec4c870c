% The sum of 1/k, and how many terms pass 10
function n = inputs(size)
    n = size
end
function [s, terms] = harmonic(n)
    s = 0
    terms = 0
    for k = 1..n
        s += 1/k
        if terms == 0 && s > 10
            terms = k
        end
    end
end
