% The rows of the table for users of MATLAB (docs/coming_from.md).
A = [[1,2,3],[4,5,6],[7,8,10]]
v = [3,1,2]
img = 255*rand(20, 30)
print A[0,1], " ", A[0,:], " ", A[0,size(A,1)-1]
print isequal(zeros(3,3), 0*A), " ", size(zeros(3)), " ", horzcat(v, 4), " ", size(vertcat(A, v))
print isequal(transpose(A), permute(A, [1,0])), " ", A[1,:].^2, " ", 1..4, " ", 0..0.5..1, " ", 4..-1..1
f = x -> x^2 + 1
print f(3)
y = cell(0)
for c = {1,2,3}
    y.append(f(c))
end
print y
s = object()
s.a = 1
print s.a, fieldnames(s)
print size(A), numel(A), ndims(A), size(A,0)
print find(v > 1), " ", any(v > 2), all(v > 0), sum(A), sum(A,0), sum(A,1), max(A), max(A,[],0), cumsum(v)
[s, i] = sort(v)
print s, i
printf("%d %.2f\n", 3, pi)
v[v > 2] = 0
print v, v != 1, !any(v), mod(-1, 3)
print size(imresize(img, 0.5)), size(conv2(img, ones(3,3)/9, "same")), size(imfilter(img, ones(3,3)/9)), size(immedfilt(img, 1))
print max(abs(real(ifft1(fft1(v))) - v)) < 1e-5, max(abs(real(ifft2(fft2(img))) - img)) < 1e-2
print size(randn(2,3)), numel(regionprops([[1,1,0],[0,0,2]])), size(bwlabel(img > 128))
print size(reshape(A, [1,-1])), size(repmat(v, 2, 1)), linsolve(float64(A), transpose([6.0,15.0,25.0]))
match 2 with
| 1 -> print "one"
| _ -> print "other"
end
try
    error("no")
catch e
    print e
end
