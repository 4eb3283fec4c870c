% Statistics and extremes of neighbouring columns, which are read together, equal the ones of single columns.
function [] = check(name, f, x)
    y = f(x)
    good = true
    for j = 0..size(x,1)-1
        one = f(copy(x[:,j]))
        good = good && all(1./y[:,j] == 1./one || (isnan(y[:,j]) && isnan(one)))  % tells -0 from 0
    end
    print name, ": ", good
end
for n = {1, 7, 8, 19}
    x = rand(41, n) - 0.5
    check("std", z -> std(z, 0), x)
    check("var", z -> var(z, 0), float64(x))
    check("median", z -> median(z, 0), x)
    check("percentile", z -> percentile(z, [10,50], 0), x)
end
cube = rand(5, 30, 11)
s = std(cube, 1)
print max(abs(s[:,0,3] - std(squeeze(cube[:,:,3]), 1))) < 1e-6, " ", size(s)
% extremes: nan of both signs, infinities and zeros of both signs
odd = [0, -0.0, nan, -abs(nan), inf, -inf, 1, -1]
x = reshape(odd[randi(8, [90*70])], [90,70])
x[:,3] = nan
x[:,4] = where(x[:,4] < 0, -x[:,4], x[:,4])
x[:,5] = -0.0
x[0..88,6] = nan
for kind = {float32(x), float64(x), float32(int(rand(90,700)*100)), float64(rand(700,90)-1)}
    for f = {z -> min(z, [], 0), z -> max(z, [], 0)}
        check("columns", f, kind)
        print isequal(isnan(f(kind)), all(isnan(kind), 0)), " ", size(f(kind))
    end
end
long = reshape(odd[randi(8, [3*5000])], [3,5000])
print isequal(min(long, [], 1), -max(-long, [], 1)), " ", max(long, [], 1)[2,0] == max(long[2,:])
