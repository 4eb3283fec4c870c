% options: --check
% Definitions that no call distinguishes, and calls that only the order of definitions decides.
type image : mat
function y = f(n : int, x : scalar)
    y = 1
end
function y = f(x : scalar, n : int)
    y = 2
end
function y = g(x : mat'clamped)
    y = 1
end
function y = g(x : image)
    y = 2
end
function y = h(x : vec)
    y = 1
end
function y = h(x : mat)
    y = 2
end
print f(int(1), int(2)), f(int(1), 2.5), f(1, 2), h([1,2]), h(ones(2,2)), g([1,2])
