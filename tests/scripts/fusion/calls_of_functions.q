% options: --loops always --explain
% devices: cpu
% exit: 1
% A function that consists of elementwise expressions is a part of the kernel of the statement that calls it, as long as
% its name means this function.
function y = sigmoid(x)
    y = 1./(1 + exp(-x))
end
function y = swish(x, beta)
    t = beta*x
    s = sigmoid(t)
    y = x.*s
end
function y = around(x)
    y = circshift(x, [0,1]) + circshift(x, [0,-1]) - 2*x
end
function y = doubled(x)
    x[0] = 10
    y = x*2
end
function y = layers(x, w)
    scale = 0.5
    leaky = v -> v > 0 ? v : scale*v
    h = swish(w.*x + 1, 2)
    g = leaky(h - 0.5)
    y = leaky(g) + around(x).*sigmoid(-g)
end
function y = changed(x)
    scale = 1
    f = v -> scale*v + 1
    y = []
    for k = 1..3
        y = vertcat(y, f(x + k).*2)
        if k == 2
            scale = 100
            f = v -> v.*v
        end
        scale += 1
    end
end
function y = effects(x)
    y = x + doubled(x)
    y = doubled(2*x[0..1]) + x[0..1]
end
function [] = main_()
    x = reshape((0..11)/4 - 1, [3,4])
    w = reshape(mod((0..11)*5, 7)/4, [3,4])
    y = layers(x, w)
    printf("%.5f %.5f %.5f", sum(y), min(y), max(y))
    print changed([1.0,2,3])
    print effects([1.0,2,3])
    u = zeros(3,4)
    u[1..2,:] = sigmoid(x[0..1,:])
    u += 2*swish(x, 1)
    total = sum(sigmoid(u).*w)
    printf("%.5f %.5f %.5f", total, mean((swish(x, 1) - sigmoid(w)).^2), max(around(x) + 1))
    try
        z = sigmoid(x) + sigmoid(ones(2,2)).*x
    catch e
        print e
    end
    printf("%.5f", sum(grad(v -> sum(swish(v, 2)), x)))
end
main_()
error("ends here")
