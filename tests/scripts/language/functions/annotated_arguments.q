function y = f(img : cube, s : scalar)
    y = sum(img)*s
end
I = ones(2,2,3)
half = 2
print f(I:cube, 1/half)
print f(I, _
        half : int)
