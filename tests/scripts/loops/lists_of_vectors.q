% options: --loops always --explain
% exit: 3
% Cells of short vectors of one length are read by any index.
function s = length_of(pts)
    s = 0
    for k = 1..numel(pts)-1
        dx = pts[k][0] - pts[k-1][0]
        dy = pts[k][1] - pts[k-1][1]
        s += sqrt(dx^2 + dy^2)
    end
end
function [s, most] = by_item(pts)
    s = [0, 0]
    most = -inf
    for p in pts
        s += p*0.5
        q = p - s
        most = max(most, q[1])
    end
end
function s = nearest(pts, x)
    s = 0
    for i = 0..numel(pts)-1
        p = pts[i]
        for j = 0..numel(pts)-1
            d = norm(p - pts[j]) + sum(x[0..1].*pts[j])
            s += min(d, p[mod(j, 2)])
        end
    end
end
pts = {[0, 1], [3, 5], [0.5, -2], [3, 5]}
wide = {float64([1/3, 2]), float64([1e9+0.5, 1])}
print length_of(pts), " ", length_of(wide)
print by_item(pts), " ", by_item(wide), " ", nearest(pts, [1, 2, 3])
% not all of one length or type
print by_item({[1, 2], float64([1/3, 2])})
try
    print by_item({[1, 2], [1, 2, 3]})
catch e
    print e
end
% an item has two names, or is changed
function [] = changed(pts, x)
    for k = 0..numel(pts)-1
        x[1] = x[1] + pts[k][1] + 1
    end
end
changed(pts, pts[2])
changed(pts, [1, 2])
print pts
function p = patched(pts)
    for k = 0..numel(pts)-1
        p = pts[k]
        p[0] = k
    end
end
p = patched(pts)
p[1] = 100
print pts
function p = last_of(pts)
    p = pts[0]
    for k = 0..numel(pts)-1
        p = pts[k]
    end
end
p = last_of(pts)
p[1] = -1
print pts
function p = last_copy(pts)
    for k = 0..numel(pts)-1
        p = copy(pts[k])
        p[0] += k
    end
end
p = last_copy(pts)
print p, pts
try
    for k = 0..5
        t = pts[k][1]
    end
catch e
    print e, t
end
try
    for k = 0..3
        t = pts[k][k]
    end
catch e
    print e, t
end
exit(3)
