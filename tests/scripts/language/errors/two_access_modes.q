% exit: 1
% A type has one access mode.
function y = f(x : vec'reflect'mirror)
    y = x[-1]
end
print f([1,2,3])
