% options: --no-warnings --loops always --explain
% Conditions around an index keep it inside the array: such loops are parallel.
function y = s1(x)
    [M,N] = size(x,0..1)
    y = zeros(M,N)
    for m=0..M-1
        for n=0..N-1
            if m>0
                y[m,n] = x[m-1,n]
            end
        end
    end
end
function y = s2(x)
    y = zeros(size(x))
    for m=0..size(x,0)-1
        for n=0..size(x,1)-1
            y[m,n] = (m>0 ? x[m-1,n] : 0) + (n < size(x,1)-1 ? x[m,n+1] : 0)
        end
    end
end
function y = s3(x)
    [M,N] = size(x,0..1)
    y = zeros(M,N)
    for m=0..M-1
        for n=0..N-1
            if m>0 && m<M-1 && n>0 && n<N-1
                y[m,n] = x[m-1,n]+x[m+1,n]+x[m,n-1]+x[m,n+1]-4*x[m,n]
            else
                y[m,n] = x[m,n]
            end
        end
    end
end
function y = s4(x)
    [M,N] = size(x,0..1)
    y = zeros(M,N)
    for m=0..M-1
        for n=0..N-1
            if m==0 || n==0
                y[m,n] = 1
            else
                y[m,n] = x[m-1,n-1]
            end
        end
    end
end
function y = s5(x)
    [M,N] = size(x,0..1)
    y = zeros(M,N)
    for m=0..M-1
        for n=0..N-1
            s = 0.0
            for k=-2..2
                for l=-2..2
                    if m+k>=0 && m+k<M && n+l>=0 && n+l<N
                        s += x[m+k,n+l]
                    end
                end
            end
            y[m,n] = s
        end
    end
end
function y = s6(x, dx)
    y = zeros(size(x))
    for m=0..size(x,0)-1
        for n=0..size(x,1)-1
            j = n + int(dx[m,n])
            if j >= 0 && j < size(x,1)
                y[m,n] = x[m,j]
            end
        end
    end
end
function y = s7(x)
    y = zeros(size(x))
    for m=0..size(x,0)-1
        for n=0..size(x,1)-1
            if m == 0
                continue
            end
            y[m,n] = x[m-1,n]
        end
    end
end
function y = s8(x)
    y = zeros(size(x))
    for m=0..size(x,0)-1
        for n=0..size(x,1)-1
            if m > 0 && x[m-1,n] > 0.5
                y[m,n] = x[m-1,n]
            end
        end
    end
end
x = mod(reshape(0..999,[25,40])*0.7548776662466927, 1)
dx = round(10*(x-0.5))

print sum(s1(x)), " ", sum(s2(x)), " ", sum(s3(x)), " ", sum(s4(x)), " ", sum(s5(x)), " ", sum(s6(x,dx)), " ", sum(s7(x)), " ", sum(s8(x))
% conditions that are not sufficient: the loop stays serial, with the same errors
function y = wrong1(x)
    y = zeros(numel(x))
    for m=0..numel(x)-1
        if m>=0
            y[m] = x[m-1]
        end
    end
end
function y = wrong2(x, idx)
    y = zeros(numel(x))
    for m=0..numel(idx)-1
        j = idx[m]
        if j >= 0 || j < numel(x)
            y[m] = x[j]
        end
    end
end
function y = wrong3(x, idx)
    y = zeros(numel(x))
    for m=0..numel(idx)-1
        j = idx[m]
        if !(j < 0) && j < numel(x)
            y[m] = x[j]
        end
    end
end
function y = right3(x, idx)
    y = zeros(numel(x))
    for m=0..numel(idx)-1
        j = idx[m]
        if j >= 0 && j <= numel(x)-1
            y[m] = x[j]
        end
    end
end
function y = again(x, idx)
    y = zeros(numel(x))
    for m=0..numel(idx)-1
        if idx[m] >= 0 && idx[m] < numel(x)
            y[m] = x[idx[m]]
        end
    end
end
function y = stored(x, idx)
    y = zeros(numel(x))
    for m=0..numel(idx)-1
        if idx[m] >= 0 && idx[m] < numel(x)
            idx[m] += 1
            y[m] = x[idx[m]]
        end
    end
end
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
v = [1,2,3,4]
a = () -> wrong1(v)
b = () -> wrong2(v, [0,1,7,2])
c = () -> wrong3(v, [0,1,0/0,2])
d = () -> right3(v, [0,1,0/0,2])
e = () -> right3(v, [0.5,-0.5,3.5,4])
attempt(a)
attempt(b)
attempt(c)
attempt(d)
attempt(e)
print again(v, [3,-1,7,0])
g = () -> stored(v, [0,1,3,2])
attempt(g)
