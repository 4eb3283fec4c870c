% options: --loops always --threads 2 --explain
% As machine code the outer loop would run all iterations serially, including those of the inner loops.
n = 150
u = zeros(n,n)
v = zeros(n,n)
u[0,:] = 1
for k=1..3
    for i=1..n-2
        for j=1..n-2
            v[i,j] = 0.25*(u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1])
        end
    end
    for i=1..n-2
        for j=1..n-2
            u[i,j] = v[i,j]
        end
    end
end
printf("%.6g\n", sum(u))
% not when they are in order, or short
for k=1..3
    for i=1..n-2
        for j=1..n-2
            u[i,j] = 0.25*(u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1])
        end
    end
end
for k=1..3
    for i=1..9
        v[i,k] = u[i,k+1] + v[i,k-1]
    end
end
printf("%.6g\n", sum(u) + sum(v))
% long slices, too, are computed by all threads, but not short ones
function a = smooth(a, b)
    n = numel(a)
    for k = 1..3
        b[1..n-2] = 0.25*a[0..n-3] + 0.5*a[1..n-2] + 0.25*a[2..n-1]
        [a, b] = [b, a]
    end
end
for n = {400000, 400}
    a = smooth(ones(n), zeros(n))
    printf("%.6g\n", a[2])
end
