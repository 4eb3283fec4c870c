% options: --loops always --explain
% Items of a cell whose number the loop does not change are ordinary arrays and numbers.
function y = scaled(c, k)
    band = c[k]
    {!parallel for}
    for m = 0..size(c[k],0)-1
        for n = 0..size(c[k],1)-1
            band[m,n] = band[m,n]*2 + c[2]
        end
    end
    y = band
end
c = {[[1,2],[3,4]], [[5,6,7],[8,9,1]], 0.5, "text"}
print scaled(c, 0), " ", scaled(c, 1), " ", c[0]
c[2] = 10
print scaled(c, 0)
c[2] = "no number"
try
    scaled(c, 0)
catch e
    print "not for a text"
end

% read and written under two names: in order
function [] = shifted(c, k)
    a = c[k]
    for m = 1..numel(a)-1
        a[m] = c[k][m-1] + 1
    end
end
d = {[5,0,0,0]}
shifted(d, 0)
print d[0]

% the index of the item changes from iteration to iteration
total = 0
for k = 0..1
    total += c[k][0,0]
end
print total
for k = 0..1
    e = {k, total}
    for m = 0..1
        total += e[1] + d[0][m] + e[m-m]
    end
end
print total
try
    for m = 0..1
        total += d[7][m]
    end
catch e
    print e
end
