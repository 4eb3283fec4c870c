% options: --precision 64 --loops always
% tolerance: 1e-5
% Gradients of expressions over arrays, as one kernel.
import "check.q"

check("one leaf", x -> sum(exp(-x.*x).*sin(x)), wave(9))
check("a mean", x -> mean((x - 0.5).^2), wave(9))
check("not flat", x -> sum((x + [1,2,3]).*x.*[[2],[5]]), image(2,3))
check("a row is stretched", x -> sum((image(4,3) + x).^2), wave(3))
check("a column is stretched", x -> sum((image(4,3).*x).^2), image(4,1))
check("a choice", x -> sum(x > 0.4 ? x.^2 : -3*x), wave(9))
check("a view", x -> sum(sin(x[:,1..2]).*x[:,0..1]), image(3,4))
check("min and max", x -> sum(max(x, 0.3).*min(x, 0.9)), wave(9))

function s = by_number(a)
    x = wave(7)
    s = sum(exp(a*x) + a)
end
printf("a number: %.8g %.8g", grad(by_number, 0.7), sum(wave(7).*exp(0.7*wave(7))) + 7)

function s = updated(x)
    y = x.*x
    y += sin(x)
    y .*= x
    s = sum(y)
end
check("updates in place", updated, wave(6))
printf("second derivatives: %.6g", sum(grad(x -> sum(grad(x -> sum(sin(x).*x.^2), x).^2), wave(5))))
function g = by_hand(x)
    g = 2*(cos(x).*x.^2 + 2*x.*sin(x)).*(-sin(x).*x.^2 + 4*x.*cos(x) + 2*sin(x))
end
printf("by hand:            %.6g", sum(by_hand(wave(5))))
