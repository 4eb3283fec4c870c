% The rule of image filters: every border, centers outside the mask, several channels, and second derivatives.
import "imfilter.q"
randseed(3)
x = float64(rand(6,7))
planes = float64(rand(5,4,3))
for b = {"mirror","reflect","circular","clamped","zeros"}
    print gradcheck((x,w) -> sum(imfilter(x,w,[],b).^3), x, float64(rand(3,2)))
    print gradcheck((x,w) -> sum(imfilter(x,w,[0,1],b).^3), planes, float64(rand(2,3)))
    print gradcheck((x,w) -> sum(imfilter(x,w,[-1,3],b).^3), planes, float64(rand(2,2)))
    print gradcheck((x,w) -> sum(imfilter(x,w,[],b).^3), float64(rand(1,7)), float64(rand(1,3)))
    print gradcheck(x -> sum(gaussian_filter(x,0.7,0,b).^3), x)
    print gradcheck(v -> sum(grad(u -> sum(imfilter(u,[[1,2],[0,3]],[],b).^3), v).^2), float64(rand(3,3)))
end
print gradcheck(v -> sum(grad(u -> sum(imfilter(x,u).^3), v).^2), float64(rand(3,3)))

% A rule with one more parameter is passed which adjoints are wanted.
{!adjoint product_rule}
function y = product(a, b)
    y = a*b
end
function [da, db] = product_rule(a, b, y, dy, wanted)
    print "wanted ", wanted
    [da, db] = {wanted[0] ? dy*b : null, wanted[1] ? dy*a : null}
end
print grad(a -> product(a, 3), 2)
[da, db] = grad(product, 2, 3)
print da, " ", db
