% options: --memory-limit 2M --loops always
% A range that is an index takes the register of an operand that the kernel before has left there; its array is freed.
function y = step_often(x)
    n = size(x, 0)
    y = copy(x)
    for k = 1..200
        stay = x == 1 && y[0..n-1,0..n-1] == 1
        y[0..n-1,:] = stay || stay
    end
end
x = reshape(mod(0..39999, 3), [200,200])
print sum(step_often(x))
