% options: --loops always --explain
% Chunks get copies of h if the loop is long; what depends on a condition does not count.
function h = votes(x, m)
    h = zeros(m, 16)
    for i = 0..numel(x)-1
        if x[i] > 62
            for k = 0..15
                h[mod(i, m),k] += k
            end
        end
    end
end
function h = all_votes(x, m)
    h = zeros(m, 16)
    for i = 0..numel(x)-1
        for k = 0..15
            h[mod(i, m),k] += k
        end
    end
end
x = mod(7919*(0..1999), 64)
print sum(votes(x, 7)), " ", sum(all_votes(x, 7))
