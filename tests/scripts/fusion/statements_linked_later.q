% options: --loops always --explain
% devices: cpu
% exit: 1
% Statements that only a later one links are one kernel with it, and so are slices in conditions, which the operators
% might not evaluate.
function [f, g] = forces(x, y)
    dx = transpose(x) - x
    dy = transpose(y) - y
    r = dx.^2 + dy.^2 + 0.5
    near = r < 9
    w = near ? 1./r.^3 : 0
    f = sum(w.*dx, 1)
    g = sum(w.*dy, 1)
end
function s = never_linked(x, y)
    a = x + x.*2
    b = y - y./2
    s = {a, b}
end
function y = part_links(x, z)
    n = size(x, 0)
    y = copy(x)
    left = x[1..n-2,:]*2
    right = z[1..n-2,:]*3
    y[1..n-2,:] = right - left
end
function m = rising(x)
    n = size(x, 0)
    m = x[0..n-2,:] < x[1..n-1,:] && x[1..n-1,:] > 0
end
function y = higher(x)
    n = size(x, 0)
    m = x[0..n-2,:] < x[1..n-1,:] && x[1..n-1,:] > 0
    y = m ? x[1..n-1,:] : x[0..n-2,:]
end
function r = not_evaluated(x, k)
    r = k > 0 && x[99] > 0
    s = k > 0 ? x[99] : k + 1
    r = {r, s}
end
function r = outside(x)
    try
        m = x[0..9] > 5 && x[99..108] > 0
        r = m ? x[99..108] : 0
    catch e
        r = e
    end
end
function y = one_row(x, a, b)
    t = a + b
    s = sum(x, 1) > 0 ? t : 1
    y = {t + s, s}
end
p = mod((0..19)*7, 11)
[f, g] = forces(p, mod((0..19)*3, 13))
printf("%.5g %.5g", sum(abs(f)), sum(abs(g)))
q = never_linked(p, p + 1)
print sum(q[0]), " ", sum(q[1])
x = reshape(mod((0..63)*29, 17) - 8, [8,8])
print sum(part_links(x, x + 1)), " ", sum(rising(x)), " ", sum(higher(x))
print not_evaluated([1,2], -1)
print outside([1,2,3,4,5,6,7,8,9,10])
print one_row([[1,2]], [[3,4],[5,6]], [[1,1],[1,1]])
error("ends here")
