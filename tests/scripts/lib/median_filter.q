import "immedfilt.q"
A = [[1,2,3],[4,100,6],[7,8,9]]
print immedfilt(A), " ", immedfilt(A, 0), " ", immedfilt([5,1,4,2], 1)
print size(immedfilt(ones(5,6,3), 2)), max(immedfilt(ones(5,6,3), 2))

% nan sorts after all numbers: in the kernel for small windows as in medfilt.
x = reshape(mod((0..48).^2, 17), [7,7])
x[2,3] = nan
x[0,0..1] = 1/0
x[5..6,4..6] = nan
for r = 0..2
    a = immedfilt(x, r)
    b = medfilt(x, r)
    print isequal(isnan(a), isnan(b)), max(isnan(a)), max(abs(1./a[!isnan(a)] - 1./b[!isnan(b)]))
end
