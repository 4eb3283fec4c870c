% The best value of things below a weight
import "../inputs.q"
function [weight, value] = inputs(n)
    weight = integers(n, 50) + int([1])
    value = integers(n, 100, 53)
end
function y = knapsack(weight, value)
    n = numel(weight)
    capacity = 20*n
    best = zeros(capacity + 1)
    for i = 0..n-1
        for c = capacity..-1..weight[i]
            best[c] = max(best[c], best[c - weight[i]] + value[i])
        end
    end
    y = best[capacity]
end
