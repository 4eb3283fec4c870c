% options: --explain --loops always
% devices: cpu opencl
% exit: 3
% A loop whose variables exchange their arrays is compiled, and the body accesses the same slice in both branches.
function a = diffuse(a, b, steps)
    n = numel(a)
    for k = 1..steps
        for i = 1..n-2
            b[i] = 0.25*a[i-1] + 0.5*a[i] + 0.25*a[i+1]
        end
        t = a
        a = b
        b = t
    end
end
function x = in_both_branches(x, y, n)
    for k = 1..6
        if k > 3
            x[1..n-2] = y[2..n-1]*0.5
        else
            x[1..n-2] = y[2..n-1]
        end
    end
end
a = diffuse(ones(40), zeros(40), 5)
print a[0..3]
x = in_both_branches(zeros(40), ones(40), 40)
print x[0..3]
exit(3)
