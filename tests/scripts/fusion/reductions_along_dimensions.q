% devices: ref cpu opencl
% Expressions with sums, means, minima and maxima along any dimension of matrices and cubes have the bits of the same
% operations one by one, where the sums are in the order of the elements.
function [] = same(name, a, b)
    if type(a) != type(b) || !isequal(size(a), size(b)) || any(a != b)
        print name, " differs: ", type(a), " ", type(b), " ", size(a), " ", size(b), " ", max(abs(float64(a) - float64(b)))
    end
end
function [] = close(name, a, b)
    d = max(abs(float64(a) - float64(b)))
    if type(a) != type(b) || !isequal(size(a), size(b)) || !(d <= 1e-6*max(abs(float64(b))))
        print name, " differs: ", d
    end
end
A = reshape(mod((0..39999)*7919, 1024)/128 - 4, [200,200])
B = reshape(mod((0..39999)*104729, 1001)/127 - 4, [200,200])
C = reshape(mod((0..41999)*7919, 1024)/127 - 4, [70,200,3])
D = reshape(mod((0..41999)*7919, 1024)/127 - 4, [7,60,100])
u = uint8(A*20 + 100)
w = reshape([0.3,0.6,0.1], [1,1,3])
row = B[5,:]
column = A[:,3]
gaps = where(A > 3.9, 0/0, A)
for k = 1..60
    s0 = sum(A.*B, 0)
    m0 = mean((A - row).^2, 0)
    weighted = sum(A.*column, 0)
    gray = sum(C.*w, 2)
    c1 = sum(C.*C, 1)
    d0 = sum(abs(D - 1), 0)
    d1 = mean(D.*2, 1)
    d2 = max(abs(D), [], 2)
    centred = A - mean(A, 0)
    standard = centred./sqrt(mean(centred.*centred, 0) + 0.001)
    soft = exp(C - max(C,[],2))./sum(exp(C - max(C,[],2)), 2)
    low = min(gaps.*2, [], 0) + 1
    high = max(abs(gaps), [], 0) - gaps
    counts = sum(A > 1, 0) + sum(u*2, 0)
    wide = sum(float64(A).*0.1, 0)
    shares = abs(D)./sum(abs(D), 0)
    part = sum(A[1..198,:].*B[0..197,:], 0)
end
t = A.*B
same("s0", s0, sum(t,0))
t = A - row
t = t.^2
same("m0", m0, mean(t,0))
t = A.*column
same("weighted", weighted, sum(t,0))
t = C.*w
same("gray", gray, sum(t,2))
t = C.*C
same("c1", c1, sum(t,1))
t = D - 1
t = abs(t)
same("d0", d0, sum(t,0))
t = D.*2
same("d1", d1, mean(t,1))
t = abs(D)
same("d2", d2, max(t,[],2))
t = mean(A,0)
t = A - t
same("centred", centred, t)
v = t.*t
v = mean(v,0)
v = v + 0.001
v = sqrt(v)
same("standard", standard, t./v)
t = max(C,[],2)
t = C - t
t = exp(t)
v = sum(t,2)
close("soft", soft, t./v)
t = gaps.*2
t = min(t,[],0)
t = t + 1
print isequal(isnan(low), isnan(t)), " ", isequal(low[low < 100], t[t < 100])
t = abs(gaps)
t = max(t,[],0)
t = t - gaps
print isequal(isnan(high), isnan(t)), " ", isequal(high[high < 100], t[t < 100])
t = A > 1
t = sum(t,0)
v = u*2
v = sum(v,0)
same("counts", counts, t + v)
t = float64(A)
t = t.*0.1
close("wide", wide, sum(t,0))
t = abs(D)
v = sum(t,0)
same("shares", shares, t./v)
t = A[1..198,:]
v = B[0..197,:]
t = t.*v
same("part", part, sum(t,0))
% an empty dimension, and one of a single element
print size(sum(zeros(0,5000).*2, 0)), " ", sum(ones(1,5000).*2, 0)[0,4999], " ", sum(ones(5000,1).*2, 1)[4999,0]
