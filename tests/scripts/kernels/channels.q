% The number of channels of an image is compiled into kernels, loops and expressions if it is at most four; other images
% of the same rank use other code.
function [] = __kernel__ brightest(x : cube, y : mat, pos : ivec2)
    m = x[pos[0],pos[1],0]
    for c = 1..size(x,2)-1
        m = max(m, x[pos[0],pos[1],c])
    end
    y[pos] = m
end
function [] = __kernel__ scaled(x : cube, z : cube, pos : ivec2)
    for c = 0..size(x,2)-1
        z[pos[0],pos[1],c] = x[pos[0],pos[1],c]*(c + 1)
    end
end
function z = by_loop(x)
    z = zeros(size(x))
    for i = 0..size(x,0)-1
        for j = 0..size(x,1)-1
            for c = 0..size(x,2)-1
                z[i,j,c] = x[i,j,c]*(c + 1)
            end
        end
    end
end
for n = 1..6
    x = mod(reshape(0..5*7*n-1, [5,7,n])*37, 101)
    y = zeros(5,7)
    z = zeros(5,7,n)
    parallel_do(size(y), x, y, brightest)
    parallel_do(size(y), x, z, scaled)
    loop = by_loop(x)
    last = x[:,:,n-1] + 2*x[:,:,0]
    u = uint8(x)
    parallel_do(size(y), u, z, scaled)
    print n, ": ", sum(y), " ", sum(z), " ", max(abs(z - loop)), " ", sum(last), " ", max(abs(by_loop(u) - z))
end
% a part of an image has no constant distance of pixels
x = mod(reshape(0..8*7*3-1, [8,7,3])*37, 101)
part = x[1..2..7,2..5,0..1]
y = zeros(4,4)
parallel_do(size(y), part, y, brightest)
print y
