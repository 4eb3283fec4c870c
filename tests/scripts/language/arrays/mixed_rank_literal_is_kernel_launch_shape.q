x = ones(20,30)
print [size(x,0..1), [16,16]]
