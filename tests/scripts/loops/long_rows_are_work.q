% options: --explain --loops auto
% exit: 3
% devices: cpu
% The elements of long rows count as work, so that a loop over them is compiled after a few runs.
function x = solve(b)
    n = size(b, 0)
    x = zeros(n, size(b, 1))
    x[0,:] = b[0,:]/4
    for i = 1..n-1
        x[i,:] = (b[i,:] + x[i-1,:])./(4 + x[i-1,:])
    end
end
b = ones(200, 8000)
x = solve(b)
x = solve(b)
x = solve(b)
x = solve(b)
x = solve(b)
print x[0..3,7999], " ", x[199,0]
exit(3)
