% Elements that all iterations of an inner loop read are loaded in front of it, in parallel loops: not if there is no
% iteration, and not from an array that the loop changes.
function y = nearest(X, C, y)
    for i = 0..size(X, 0)-1
        best = inf
        for k = 0..size(C, 0)-1
            d = (X[i,0] - C[k,0])^2 + (X[i,1] - C[k,1])^2
            if d < best
                best = d
                y[i] = k
            end
        end
    end
end
X = mod(reshape((0..199)*37, [100,2]), 61)/61
C = mod(reshape((0..13)*11, [7,2]), 17)/17
y = nearest(X, C, zeros(100))
printf("%d %d %d %d %g", y[0], y[33], y[77], y[99], sum(y))
print sum(nearest(X, C[0..0,:], zeros(100))), " ", sum(nearest(X, zeros(0,2), ones(100)))

% the first column does not exist, and is never read
try
    print sum(nearest(zeros(50,0), zeros(0,2), ones(50)))
    print nearest(zeros(50,0), C, ones(50))
catch e
    print e
end

% the array that is read is the one that is written, also through another variable
function s = moved(x, y, n)
    for i = 0..size(x, 0)-1
        for k = 1..n
            y[i] = x[i] + y[i]*0.5
        end
    end
    s = sum(x) + sum(y)
end
a = mod((0..99)*7, 11)
printf("%.9g %.9g", moved(a, zeros(100), 3), moved(a, a, 3))

% downwards, in steps, in two loops
function y = twice(x, w, n)
    y = zeros(size(x, 0))
    for i = 0..size(x, 0)-1
        s = 0
        for k = n-1..-2..0
            s += x[i,1]*w[k] + x[i,n-1]
        end
        for k = 0..n-1
            for l = 0..k
                s += x[i,0]*w[l] - x[i,k]
            end
        end
        y[i] = s
    end
end
x = mod(reshape((0..899)*17, [100,9]), 29)/29
printf("%.9g %.9g", sum(twice(x, 0..8, 9)), sum(twice(x, 0..8, 6)))
