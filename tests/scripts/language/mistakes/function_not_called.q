% exit: 1
% The name of a function, or a comparison, is alone on a line.
tic
x = 3
x == 4
x
function y = elapsed()
    toc
    y = 1
end
elapsed
