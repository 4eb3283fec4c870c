% options: --explain --loops auto
% devices: cpu
% exit: 1
% A mathematical function of a row takes the interpreter a step for each element.
function y = rows(x)
    y = zeros(size(x))
    for i = 0..size(x,0)-1
        y[i,:] = tanh(x[i,:] - 1)
    end
end
x = reshape(mod(0..999999, 101)/101, [1000,1000])
for k = 1..3
    y = rows(x)
end
exit(1)
