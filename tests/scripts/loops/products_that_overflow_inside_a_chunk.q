% options: --loops always
n = 6400
x = float64(ones(n))
function p = product(x)
    p = 1
    for i=0..numel(x)-1
        p *= x[i]
    end
end
x[10] = 1e100
x[310] = 1e250
x[320] = 1e-250
print product(x)
x[10] = 1e-100
x[310] = 1e-250
x[320] = 1e250
print product(x)
% intermediate results of lower precision
x[10] = 1
x[310] = 1.2345678912345e-160
x[320] = 1.2345678912345e-160
x[330] = 1e300
printf("%.3e\n", product(x)*1e-300)
% within the range of numbers: in chunks
x[310] = 3e100
x[320] = 1e-90
x[330] = 2
print product(x)
