% Gradients of functions of the library at sizes at which a rule that computes more than it needs takes minutes.
import "dct.q"
randseed(5)
function y = close(a, b)
    y = max(abs(as_row(a) - as_row(b))) <= 1e-9*(1 + max(abs(as_row(b))))
end
function y = as_row(x)
    y = reshape(x, [1,numel(x)])
end
function yes = same_slope(f, x)          % the gradient against a difference in one direction
    d = cast_like(rand(size(x)) - 0.5, x)
    h = 1e-5
    n = (f(x + h*d) - f(x - h*d))/(2*h)
    g = sum(grad(f, x).*d)
    yes = abs(g - n) <= 1e-5*(abs(g) + abs(n)) + 1e-9
end
wide = s -> cast_like(rand(s) - 0.5, float64([0]))

image = wide([400,500])
for mode = {"full", "same", "valid"}
    print same_slope(w -> sum(conv2(image, w, mode).^2), wide([5,4])), _
          same_slope(x -> sum(conv2(x, wide_mask(), mode).^3), image)
end
function w = wide_mask()
    w = float64([[1,2,-1],[0,3,1]])
end
signal = wide([1,200000])
for mode = {"full", "same", "valid"}
    print same_slope(h -> sum(conv(signal, h, mode).^2), wide([1,30]))
end
whole = image[0..39,0..29]
print close(grad(v -> sum(conv2(whole, v, "valid").*3), wide([40,30])), 3*flipud(fliplr(whole)))

x = float64(0..9999) + wide([1,10000])/2
at = float64(2..7..9990)
for method = {"linear", "nearest", "pchip", "spline"}
    print same_slope(v -> sum(interp1(x, v, at, method).^2), wide([1,10000])), _
          same_slope(t -> sum(interp1(x, sin(x), t, method, "clamp").^2), at + 0.3)
end
print same_slope(k -> sum(interp1(k, sin(x/9), at, "spline").^2), x)

factors = 1 + wide([1,100000])/100
print same_slope(v -> sum(cumprod(v)), factors)
factors = 1 + wide([300,300])/10
for dim = 0..1
    print same_slope(v -> sum(cumprod(v, dim).^2), factors)
end
factors[[3,200],7] = 0
print same_slope(v -> sum(cumprod(v, 0).^2), factors), same_slope(v -> sum(cumprod(v, 1).^2), factors)

small = wide([64,48])
print same_slope(v -> sum(dct2(v).^3), small), same_slope(v -> sum(idct2(v).^3), small)
print gradcheck(v -> sum(grad(u -> sum(dct1(u, 1).^3), v).^2), wide([2,5]))
