% options: --loops always --explain
% a Kalman filter: products, transposes, columns
F = [[1,0.1],[0,1]]
Q = [[0.01,0],[0,0.02]]
P = [[1,0],[0,1]]
x = [[0],[1]]
H = [1,0]
s = 0
for k=0..9
    z = sin(k*0.1)
    x = F*x
    P = F*P*transpose(F) + Q
    y = z - x[0,0]
    K = P*transpose(H)/(P[0,0] + 0.5)
    x = x + K*y
    P = P - K*H*P
    s += x[0,0] - K[1,0]
end
printf("%.9g %.9g %.9g %.9g\n", s, x[1,0], P[0,1], P[1,1])
print size(x), size(P), size(K), size(transpose(x)), x[0,0] == P[0,0]
% rotations about axes that change during the loop
function R = rotation(axis, t)
    c = cos(t)
    s = sin(t)
    if axis == 0
        R = [[1,0,0],[0,c,-s],[0,s,c]]
    elseif axis == 1
        R = [[c,0,s],[0,1,0],[-s,0,c]]
    else
        R = [[c,-s,0],[s,c,0],[0,0,1]]
    end
end
p = [1,2,3]
t = 0
for k=0..8
    R = rotation(mod(k,3), k/4)
    p = p*R
    J = zeros(3,3)
    for i=0..2
        for j=0..2
            J[i,j] = p[i]*p[j]
        end
        J[i,i] += k
    end
    row = J[mod(k,3),:]
    t += J[0,0] + J[2,1] + sum(row) + max(J) + sum(J.*R) + size(J,0) + numel(J)
end
printf("%.9g\n", t)
print round(J*1000)/1000
% matrices made in the loop, also from vectors
total = 0
for i=0..3
    used = zeros(5)
    used[mod(i*3,5)] = 1
    w = ones(2,2)*i + eye(2)
    w[1,mod(i,2)] -= 4
    total += used[i] + 10*w[1,0] + 100*w[0,1]
end
print total, w
% an index out of bounds, in each dimension
for k=0..1
    try
        total = 0
        for i=0..3
            m = [[1,2],[3,4],[5,6]]
            total += k == 0 ? m[i,0] : m[2,i]
        end
    catch e
        print e, " ", total
    end
end
% the interpreter runs statements with matrices of several sizes, and loops with matrices that do not fit
for i=0..1
    m = zeros(2,2)
    if i == 1
        m = zeros(3,3)
    end
end
print m
try
    for i=0..1
        m = [[1,2],[3,4]]*[1,2,3]
    end
catch e
    print e
end
