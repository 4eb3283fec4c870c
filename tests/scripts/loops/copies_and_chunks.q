% options: --loops always
% Iterations that accumulate in chunks: in arrays with other references, and beyond the end.
n = 1000
a = zeros(10)
b = a
for i=0..n-1
    a[mod(i*7,10)] += b[mod(i,10)]*0.001 + 1
end
print a

c = zeros(10)
for i=0..9
    c[mod(i*7,10)] += i
end
print c

function [] = beyond()
    x = 0..7
    r = 0
    try
        for i=1..2..200
            r += x[i]
        end
    catch e
        print e, "; ", r
    end
end
beyond()
