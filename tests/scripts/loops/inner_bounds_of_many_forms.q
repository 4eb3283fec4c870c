% options: --loops always
% The iteration count of inner loops follows their bounds, whatever the form of the bounds.
n = 100
for m=[7,19,21]
    x = zeros(n,32)
    for i=0..n-1
        for j=0..mod(m,7)
            x[i,j] = 1
        end
    end
    a = sum(x)
    for i=0..n-1
        for j=0..m-1-mod(m,4)
            x[i,j] = 1
        end
    end
    b = sum(x)
    for i=0..n-1
        for j=(m > 10 ? 3 : 1)..min(m, 20)
            x[i,j] = 2
        end
    end
    print a, " ", b, " ", sum(x)
end
