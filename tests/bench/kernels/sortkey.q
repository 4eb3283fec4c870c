% Values in the order of their keys.
import "measure.q"

function y = bykey(keys, values)
    [sorted, order] = sort(keys)
    y = values[order]
end

function [] = main()
    n = 1000003
    keys = pattern(n, 1103, n)
    values = pattern(n, 37, 1021)
    measure(() -> bykey(keys, values))
end
