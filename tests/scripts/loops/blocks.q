% options: --loops always --explain
% Slices of two dimensions whose lengths are variables, or many; reductions of them.
function y = sums(x, r)
    y = float64(zeros(size(x)))
    for i = r..size(x,0)-1-r
        for j = r..size(x,1)-1-r
            y[i,j] = sum(x[i-r..i+r, j-r..j+r]) + max(x[i-r..i+r, j-r..j+r] .* x[i-r..i+r, j-r..j+r])
        end
    end
end
function y = means(x, r)
    y = float64(zeros(size(x)))
    for i = 0..size(x,0)-1
        for j = 0..size(x,1)-1
            y[i,j] = mean(x[max(i-r,0)..min(i+r,size(x,0)-1), max(j-r,0)..min(j+r,size(x,1)-1)])
        end
    end
end
function y = filtered(x, w, r)
    y = float64(zeros(size(x)))
    for i = r..size(x,0)-1-r
        for j = r..size(x,1)-1-r
            y[i,j] = sum(sum(x[i-r..i+r, j-r..j+r] .* w))
        end
    end
end
function y = tiles(x, n)
    y = float64(zeros(size(x,0)/n, size(x,1)/n))
    for i = 0..size(y,0)-1
        for j = 0..size(y,1)-1
            b = x[n*i..n*i+n-1, n*j..n*j+n-1]
            y[i,j] = sum(b > 20) + b[0,n-1]/100 + numel(b)*1000 + size(b,1)*100000
        end
    end
end
function y = copied(x, n)
    y = float64(zeros(size(x)))
    for i = 0..size(x,0)/n-1
        y[n*i..n*i+n-1, 0..n-1] = x[n*i..n*i+n-1, n..2*n-1] + 1
        y[n*i..n*i+n-1, n..n+1] = i
    end
end
x = zeros(6,6)
for i = 0..35
    x[floor(i/6),mod(i,6)] = mod(i*7, 41)
end
print sums(x, 1)
print sums(uint8(x), 2)
print means(x, 1)
print filtered(x, [[1,2,1],[2,4,2],[1,2,1]], 1)
print tiles(x, 3), tiles(int(x), 2)
print copied(x, 3)
% a sum of 81 elements, in the lanes of the host; more radii than are compiled in
big = reshape(mod((0..399)*7919, 251)/7, [20,20])
ones_ = (n) -> ones(n,n)
for r = 1..7
    w = sums(big, r)
    v = filtered(big, ones_(2*r+1), r)
    b = big[0..2*r,0..2*r]
    print w[r,r] == sum(b) + max(b .* b), " ", v[r,r] == sum(b)
end
% a weight that does not fit, and one that is stretched: the interpreter decides
try
    print filtered(x, ones(5,3), 1)
catch e
    print e
end
print filtered(x, ones(1,3), 1)[2,:]
% slices of a cube
cube = reshape((0..59)*1.5, [4,5,3])
y = float64(zeros(5,3))
for j = 1..3
    for k = 0..2
        r = cube[1, j-1..j+1, 0..k]
        y[j,k] = sum(r) + 1000*size(r,2) + r[0,1,k]
    end
end
print y
% ends outside
y = float64(zeros(6))
try
    for i = 0..5
        y[i] = sum(x[i..i+3, 0..i])
    end
catch e
    print e, " ", y
end
try
    for i = 0..5
        y[i] = sum(x[3..2, i..9])
    end
catch e
    print e, " ", y
end
% reductions of a number
for i = 0..1
    y[i] = sum(y[i+2]) + mean(i) + prod(int(3)) + any(i) + max(true)
end
print y
