% options: --loops always
img = reshape(0..63, [8,8])
out = zeros(8,8)
for m=0..7
    for n=0..6
        pos = [m,n]
        out[pos] = img[pos + [0,1]] - img[pos]
        out[[m,7]] += m
    end
end
print out
volume = zeros(3,4,2)
for i=0..2
    for j=0..3
        volume[i,j,:] = [i,j]
        volume[[i,j,1]] *= 2
    end
end
print volume[2,:,:]
try
    for i=0..8
        img[[i,0]] = -1
    end
catch e
    print e
end
print img[7,0]
