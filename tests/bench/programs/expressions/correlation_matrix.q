import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function c = correlation_matrix(x)
    d = x - mean(x, 0)
    d = d./sqrt(sum(d.^2, 0))
    c = transpose(d)*d
end
