% options: --loops always
% devices: ref cpu
% Functions of float32 rows have the bits of array expressions.
function [a, b, c, d] = rows(x)
    [a, b, c, d] = {zeros(size(x)), zeros(size(x)), zeros(size(x)), zeros(size(x))}
    for i = 0..size(x,0)-1
        a[i,:] = exp(x[i,:])
        b[i,:] = exp2(x[i,:])
        c[i,:] = sin(x[i,:])
        d[i,:] = cos(x[i,:])
    end
end
x = reshape(mod((0..639)*37, 641)/64, [16,40])
x[3,3..7] = [0,-0.0,inf,nan,-1]
x[4,0..3] = [1e30,1e-30,-1e30,150000]
results = cell(4)
[results[0], results[1], results[2], results[3]] = rows(x)
functions = {exp, exp2, sin, cos}
for k = 0..3
    [mine, other] = {results[k], apply(functions[k], {x})}
    write(sum(mine != other && !(isnan(mine) && isnan(other))), " ")
end
print

% A sum of such a row has the lanes of a row of the array.
function s = sums(x)
    s = float64(zeros(1, size(x,0)))
    for i = 0..size(x,0)-1
        s[i] = sum(exp(x[i,:]))
    end
end
y = exp(reshape(mod((0..639)*37, 641)/64, [16,40]))
total = float64(zeros(1, 16))
for i = 0..15
    total[i] = apply(sum, {y[i,:]})
end
print sum(sums(reshape(mod((0..639)*37, 641)/64, [16,40])) != total)
