% exit: 1
x = ones(4,4)
print imfitler(x, [[1]])
print imfilter
print imopem(x)
print nothing_like_it(x)
