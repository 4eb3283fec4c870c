% options: --loops always
% Inner ranges that depend on outer counters and on arrays: the same elements as in serial execution.
function [] = show(name, x)
    print name, " ", sum(x), " ", min(x), " ", max(x)
end
n = 40
x = mod((0..n-1)*7,11) - 5
h = mod((0..n-1)*3,5) - 2
y = zeros(n)
for i = 0..n-1                       % x[i-j] is inside, because j <= i
    for j = 0..i
        y[i] += h[j]*x[i-j]
    end
end
show("convolution", y)
A = zeros(n,n)
for i = 0..n-1
    for j = 0..n-1
        A[i,j] = 1/(1+abs(i-j)) + (i == j ? 8 : 0)
    end
end
B = A*0.5
for i = 0..n-1                       % the loop over k goes outside of that over j
    for j = 0..n-1
        for k = i+1..n-1
            B[i,j] += A[k,i]*B[k,j]
        end
        B[i,j] *= 0.25
    end
end
show("trmm", B)
for i = 0..n-1
    for j = 0..i-1
        for k = 0..j-1
            A[i,j] -= A[i,k]*A[k,j]
        end
        A[i,j] /= A[j,j]
    end
    for j = i..n-1
        for k = 0..i-1
            A[i,j] -= A[i,k]*A[k,j]
        end
    end
end
show("lu", A)
C = zeros(n,n)
for i = 0..n-2                       % what the loop over j leaves in its variables
    for j = i+1..n-1
        s = 0
        for k = 0..n-1
            s = s*0.5 + B[k,i]*B[k,j]
        end
        C[i,j] = s
        C[j,i] = s
    end
end
show("pairs", C)
print i, " ", j, " ", k, " ", abs(s - C[n-2,n-1]) < 1e-6
ptr = int32([0,3,3,7,12,40])
idx = int32(mod((0..n-1)*9,n))
z = zeros(5)
for i = 0..4
    for k = ptr[i]..ptr[i+1]-1
        z[i] += x[k]*y[idx[k]]
    end
end
print z
ptr[5] = 41
try
    for i = 0..4
        for k = ptr[i]..ptr[i+1]-1
            z[i] += x[k]
        end
    end
catch e
    print e
end
print z
try                                  % an index outside in the last iteration only
    for i = 0..n-1
        for j = 0..i
            y[i] += x[i-j+(i == n-1 && j == 0 ? 1 : 0)]
        end
    end
catch e
    print e, " ", i, " ", j
end
function [] = add_rows(q, p)         % q and p are one array
    for i = 1..19
        for j = 0..19
            for k = 0..i-1
                q[i,j] += p[k,j]
            end
        end
    end
end
p = ones(20,20)
add_rows(p, p)
print p[19,3]
