% Three layers with weights, the last with softmax
import "../inputs.q"
function [x, u, v, w] = inputs(n)
    x = field(n, n)
    u = field(n, n, 53) - 0.5
    v = field(n, n, 71) - 0.5
    w = field(n, 10, 91) - 0.5
end
function y = perceptron(x, u, v, w)
    h = max(x*u + 0.1, 0)
    h = max(h*v/size(x, 1) + 0.1, 0)
    e = h*w/10
    e = exp(e - max(e, [], 1))
    y = e./sum(e, 1)
end
