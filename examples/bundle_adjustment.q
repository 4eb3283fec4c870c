% Bundle adjustment: positions of points and of cameras from where the cameras see the points, by Newton's method with
% damping.  Conjugate gradients solve its systems with hvp, the product of the Hessian with a vector, so that the
% Hessian is never made.
%
%   qrun examples/bundle_adjustment.q

randseed(1)
nc = 4
np = 12
points = cast_like(rand(np,3)*4 - 2, float64([0]))
cameras = cast_like(rand(nc,3)*0.4, float64([0]))      % each looks along z from a place near (0,0,-6)
function uv = seen(p, nc, np)
    points = reshape(p[0..3*np-1], [np,3])
    cameras = reshape(p[3*np..3*np+3*nc-1], [nc,3])
    uv = zeros_like(p, nc, np, 2)
    for c = 0..nc-1
        depth = points[:,2] - cameras[c,2] + 6
        uv[c,:,0] = (points[:,0] - cameras[c,0])./depth
        uv[c,:,1] = (points[:,1] - cameras[c,1])./depth
    end
end
truth = horzcat(reshape(points, [1,3*np]), reshape(cameras, [1,3*nc]))
measured = seen(truth, nc, np)
loss = p -> 1000*sum((seen(p, nc, np) - measured).^2) + 0.001*sum((p - truth).^2)

function d = conjugate_gradients(apply_to, b, turns)
    d = 0*b
    r = b
    q = r
    rr = sum(r.*r)
    for k = 1..turns
        hq = apply_to(q)
        a = rr/sum(q.*hq)
        d = d + a*q
        r = r - a*hq
        next = sum(r.*r)
        if next < 1e-20
            break
        end
        q = r + next/rr*q
        rr = next
    end
end
p = truth + cast_like(0.05*(rand(1,numel(truth))-0.5), truth)
before = loss(p)
for k = 1..12
    g = grad(loss, p)
    p = p - conjugate_gradients(v -> hvp(loss, p, v) + 10*v, g, 60)
end
printf("squared error of all views: %.4f before, %.2g after", before, loss(p))
assert(loss(p) < 1e-3*before)
