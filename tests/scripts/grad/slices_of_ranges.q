% options: --precision 64
% Ranges as indices of recorded arrays are kept as ranges: reads, writes and updates, with steps, in several dimensions.
x = sin(1.7*(1..8))
m = reshape(sin(1.3*(1..24)), [6,4])
c = reshape(sin(1.1*(1..24)), [2,4,3])
function y = stepped(x)
    u = copy(x)
    for t = 1..4
        u[1..numel(u)-2] += 0.1*(u[0..numel(u)-3] - 2*u[1..numel(u)-2].^2 + u[2..numel(u)-1])
        u[0..3..7] = u[7..-3..0].*u[1..3]
        u[6..-2..2] .*= x[3..5]
    end
    y = u.^2
end
function y = in_planes(x)
    u = copy(x)
    u[1..4,0..2..3] = u[4..-1..1,[1,3]].*u[0..3,2..3]
    u[5,1..2] += transpose(u[0..1,3])
    u[2..3,:] = u[0..1,:].^2
    y = u[0..2..5,3..-1..0].*u[1..2..5,:]
end
function y = in_cubes(x)
    u = copy(x)
    u[0,1..3,0..1] = u[1,0..2,1..2].^2
    y = u[:,3..-1..0,1..2].*u[0..1,0..3,0]
end
function y = outside(x : vec'mirror)
    y = x[-2..9].^2
end
function y = of_fields(x)
    p = object(a := copy(x), b := {x[0..3], x[4..7]})
    p.a[2..5] = p.b[0][0..3].*p.b[1][3..-1..0]
    p.b[1][0..1] = p.a[2..3].^2
    y = [sum(p.a.^2), sum(p.b[1].*p.b[0])]
end
function y = of_lists(x)
    l = {x[0], x[1], x[2]^2, x[3]}
    k = l[1..3]
    l[0..1] = {k[1], k[2]*x[4]}
    y = [l[0]*k[0], l[1], numel(x[3..2]) + x[7]]
end
function y = rows_of(x, n)
    y = n == 0 ? x : rows_of(horzcat(x[1..numel(x)-1].*x[0..numel(x)-2], x[0..0]), n-1)
end
print gradcheck(stepped, x), gradcheck(in_planes, m), gradcheck(in_cubes, c), gradcheck(outside, x), _
      gradcheck(of_fields, x), gradcheck(of_lists, x), gradcheck(x -> sum(rows_of(x, 3)), x)
print gradcheck(x -> grad(u -> sum(stepped(u)), x), x), gradcheck(x -> grad(u -> sum(in_planes(u)), x), m)
v = cos(1..8)
[y, dy] = jvp(stepped, {x}, {v})
print abs(sum(dy) - sum(grad(u -> sum(stepped(u)), x).*v)) < 1e-12, _
      max(abs(hvp(u -> sum(stepped(u)), x, v) - v*hessian(u -> sum(stepped(u)), x))) < 1e-10
try
    print grad(u -> sum(u[3..9]), x)
catch e
    print e
end
