% options: --explain --loops always
% exit: 3
x = zeros(10)
function [] = shift(x, y, n)
    for i=0..n-1
        x[i] = y[i+1]
    end
end
shift(x, zeros(11), 10)
shift(x, x, 9)
try
    shift(x, zeros(9), 10)
catch e
    print e
end
lambda_in_it = (q) -> q + 1
for i=0..9
    z = [i,1i == 1i]
    x[i] = lambda_in_it(z[0])
end
exit(3)
