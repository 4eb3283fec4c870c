function [] = __kernel__ k(y : cube, pos : ivec2, blkpos : ivec2, blkdim : ivec2, blkidx : ivec2, blkcnt : ivec2)
    y[pos[0],pos[1],0] = blkidx[0]*100 + blkidx[1]
    y[pos[0],pos[1],1] = blkpos[0]*100 + blkpos[1]
    y[pos[0],pos[1],2] = blkcnt[0]*100 + blkcnt[1]
end
y = zeros(4,6,3)
parallel_do([[4,6],[2,4]], y, k)
print y[:,:,0]
print y[:,:,1]
print y[3,5,2]
assert(true)
