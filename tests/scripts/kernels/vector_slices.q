function [] = __kernel__ k(x : cube, y : cube, m : vec3, pos : ivec2)
    c = x[pos[0],pos[1],0..2]
    c = c.*m + [1,0,0]
    y[pos[0],pos[1],0..2] = max(c, 2) - min(c)
    y[pos[0],pos[1],2] = dotprod(c, m) + sum(c) + mean(c)
end
x = ones(1,2,3)
x[0,1,:] = [1,2,3]
y = zeros(size(x))
parallel_do(size(x,0..1), x, y, [1,2,3], k)
print y
