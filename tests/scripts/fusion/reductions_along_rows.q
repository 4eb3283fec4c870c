% devices: ref cpu opencl
% Expressions with sums, means, minima and maxima along the rows of a matrix agree with the same operations one by one.
function [] = compare(name, a, b)
    same = type(a) == type(b) && isequal(size(a), size(b))
    d = max(abs(float64(a) - float64(b)))
    if !same || !(d <= 1e-6*max(abs(float64(b))))
        print name, " differs: ", type(a), " ", type(b), " ", size(a), " ", size(b), " ", d
    end
end

A = reshape(mod((0..39999)*7919, 1024)/128 - 4, [200,200])
B = reshape(mod((0..39999)*104729, 1001)/128 - 4, [200,200])
c = A[:,3]
row = B[5,:]
u = uint8(A*20 + 100)
gaps = A
gaps = where(A > 3.9, 0/0, A)
gaps[7,:] = 0/0
gaps[9,:] = -1/0
for k = 1..60
    s = sum(A.*B, 1)
    m = mean((A - c).^2, 1)
    layer = (A - mean(A,1))./sqrt(mean((A - mean(A,1)).^2, 1) + 1e-5)
    soft = exp(A - max(A,[],1))./sum(exp(A - max(A,[],1)), 1)
    low = min(gaps.*2, [], 1) + 1
    high = max(gaps, [], 1) - gaps
    count = sum(A > 1, 1) + sum(u*2, 1)
    wide = sum(float64(A).*0.1, 1)
    line = row - sum(row.*row, 1)
    mixed = A.*sum(row.*2, 1) + sum(c.*3, 1)
    columns = sum(A.*B, 0) + 1
    part = sum(A[:,1..198].*B[:,0..197], 1)
    back = A[:,199..-1..0] - mean(A[:,199..-1..0], 1)
    whole = sum(abs(A - mean(A,1)))
    deviation = sqrt(mean(A.^2,1) - mean(A,1).^2).*2
end
t = A.*B
compare("s", s, sum(t,1))
t = A - c
t = t.^2
compare("m", m, mean(t,1))
t = mean(A,1)
t = A - t
v = t.^2
v = mean(v,1)
v = v + 1e-5
v = sqrt(v)
compare("layer", layer, t./v)
t = max(A,[],1)
t = A - t
t = exp(t)
v = sum(t,1)
compare("soft", soft, t./v)
t = gaps.*2
t = min(t,[],1)
t = t + 1
print low[0..3,0], low[7,0], " ", low[9,0], " ", isequal(low[10..199,:], t[10..199,:])
t = max(gaps,[],1)
t = t - gaps
print isnan(high[7,0]), " ", high[9,0], " ", isequal(high[10..199,:] > 1, t[10..199,:] > 1)
t = A > 1
t = sum(t,1)
v = u*2
v = sum(v,1)
compare("count", count, t + v)
t = float64(A)
t = t.*0.1
compare("wide", wide, sum(t,1))
t = row.*row
t = sum(t,1)
compare("line", line, row - t)
t = row.*2
t = sum(t,1)
t = A.*t
v = c.*3
v = sum(v,1)
compare("mixed", mixed, t + v)
t = A.*B
t = sum(t,0)
compare("columns", columns, t + 1)
t = A[:,1..198]
v = B[:,0..197]
t = t.*v
compare("part", part, sum(t,1))
t = flip(A,1)
v = mean(t,1)
compare("back", back, t - v)
t = mean(A,1)
t = A - t
t = abs(t)
compare("whole", whole, sum(t))
t = A.^2
t = mean(t,1)
v = mean(A,1)
v = v.^2
t = t - v
t = sqrt(t)
compare("deviation", deviation, t.*2)

% Derivatives, and shapes that are not matrices.
g = grad(A -> sum(sum(A.*A,1).*c), A)
compare("gradient", g, 2*A.*c)
cube = reshape(0..23, [2,3,4])
print sum(cube.*2,1), max(cube + 1,[],2) - 1, size(sum(ones(0,3).*2,1))
