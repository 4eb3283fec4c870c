% options: --explain --loops auto
% exit: 3
% devices: cpu
% One reduction along long lines is faster alone; statements with several are one kernel, up to lines twice as long.
function y = standardize(x : mat)
    d = x - mean(x, 0)
    y = d./sqrt(sum(d.^2, 0)/size(x, 0))
end
function y = center(x : mat)
    y = x - mean(x, 0)
end
x = reshape(mod((0..3000*400-1)*7, 31), [3000,400])
for k = 1..8
    y = standardize(x)
    z = center(x)
end
printf("%.6f %.6f %.4f %.6f\n", sum(y.^2)/numel(y), y[7,9], y[2999,399], z[7,9])
exit(3)
