% options: --explain --loops always
% exit: 3
% The reasons why inner loops are not vectorised, and advice.
n = 100
A = ones(n,n)
x = zeros(n)
ptr = int32([0,50,100])
for i = 1..n-1
    for k = 0..i-1
        A[i,0] -= A[i,k]*0.5
    end
    for j = 1..n-1
        x[j] = x[j-1]*0.5 + A[i,j]
    end
end
m = 0
for i = 0..n-1
    for k = 0..i
        m = max(m*0.5, A[k,i] + x[0])
    end
    x[0] = m
end
for i = 0..1
    for k = ptr[i]..ptr[i+1]-1
        x[ptr[i] + mod(k*k,50)] = 2
    end
    x[0] += 1
end
for i = 0..n-1
    for k = 0..i
        x[k] = x[k]*0.5 + lgamma(A[i,k])
    end
end
for i = 0..n-1                       % this one is
    for k = 0..i
        x[k] = x[k]*0.5 + tan(A[i,k]) + erf(x[k])
    end
end
exit(3)
