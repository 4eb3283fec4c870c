import "imfilter.q"
x = [1,2,4,8]
print imfilter(x, [1]), " ", imfilter(x, [-1,1,0], [0,1]), " ", imfilter(x, [0,1,-1], [0,1])
print imfilter(x, [1,0,0]), imfilter(x, [1,0,0], [], "circular"), imfilter(x, [1,0,0], [], "clamped"), imfilter(x, [1,0,0], [], "zeros")
print imfilter(x, [0,0,0,0,1]), imfilter(x, [1,1], [0,0])
A = reshape(0..8, [3,3])
print imfilter(A, ones(3,3)/9)
print imfilter(A, [[0],[0],[1]], [1,0])
c = cat(2, A, 10*A, 0*A)
y = imfilter(c, [[0,1],[2,3]], [0,0], "zeros")
print y[:,:,0], " ", max(abs(y[:,:,1] - 10*y[:,:,0])), max(y[:,:,2])
u : mat[uint8] = [[1,2],[3,4]]
print type(imfilter(u, [0.5])), " ", imfilter(u, [0.5])
try
    imfilter(A, [1], [], "nowhere")
catch e
    print e
end

% A complex signal is filtered by its parts.
x = [1,2,3] + [2,0,-1]*1i
[y, zf] = filter([1,0.5], [1,-0.25], x)
print max(abs(real(y) - filter([1,0.5], [1,-0.25], [1,2,3]))) < 1e-6, " ", y
[z, zg] = filter([1,0.5], [1,-0.25], x, zf)
whole = filter([1,0.5], [1,-0.25], horzcat(x, x))
print max(abs(horzcat(y, z) - whole)) < 1e-6
try
    filter([1i,2], 1, x)
catch e
    print e
end
