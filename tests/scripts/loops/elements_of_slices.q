% options: --explain --loops always
% exit: 3
% Loops that read single elements of slices whose length is not known.
function s = dot(p, q)
    s = 0
    for k = 0..numel(p)-1
        s += p[k]*q[k]
    end
end
n = 40
A = ones(n,n)
for m = 0..n-1
    for k = 0..n-1
        A[m,k] = m*0.25 + k
    end
end
b = 1..n
x = zeros(n)
for i = 0..n-1                        % Gauss-Seidel
    r = A[i,:]
    s = b[i] - sum(r.*x) + r[i]*x[i]
    x[i] = s/(r[i] + 50)
end
printf("%.5f", sum(x))
y = zeros(n)
for i = 1..n-1                        % parts of expressions
    d = abs(A[i,:] - b) + A[i-1,:]*2
    y[i] = d[i-1] + d[0,i] + d[n-1]
end
print sum(y)
for j = 0..n-1                        % columns
    c = A[:,j]
    y[j] = c[j,0] + c[n-1,0]
end
print sum(y)
G = zeros(n,n)
for i = 0..n-1                        % arguments of functions
    for j = 0..n-1
        G[i,j] = dot(A[i,:], transpose(A[:,j]))
    end
end
print sum(G)
for i = 0..n-1                        % a part of a row
    r = A[i,1..i]
    for k = 0..numel(r)-1
        y[k] += r[k]
    end
end
print sum(y)
for i = 0..n-1                        % the slice keeps its values
    r = A[i,:]
    A[i,1] = -7
    y[i] = r[1] + r[2]
end
print sum(y)
for i = 0..n-1                        % the slice is changed
    r = A[i,:]
    r[i] = 100
    y[i] = sum(r)
end
print sum(y)
try
    for i = 0..n-1
        r = A[i,:]
        y[i] = r[i+1]
    end
catch e
    print e
end
try
    for i = 0..n-1
        c = A[:,i]
        y[i] = c[i]
    end
catch e
    print e
end
exit(3)
