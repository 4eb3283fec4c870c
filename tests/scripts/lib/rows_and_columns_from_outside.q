% A file may contain an array of one row, or with trailing extents of 1: it is a vec, whatever its rank was, for types,
% indices, functions, kernels and loops.
chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib")

function y = second(x : vec)
    y = x[1] + 10*x[0,1] + 100*numel(x)
end
function y = corner(x : mat)
    y = x[1,0] + 10*size(x,0) + 100*size(x,1)
end
function y = summed(x)
    y = 0
    for i = 0..numel(x)-1
        y += x[i]
    end
end
function [] = __kernel__ double_row(x : vec, y : vec, pos : int)
    y[pos] = x[pos] + x[0,pos]
end
function [] = __kernel__ double_mat(x : mat, y : mat, pos : ivec2)
    y[pos] = 2*x[pos]
end

function [] = stored(x)
    save("out/lib/shape.npy", x)
    y = load("out/lib/shape.npy")
    print type(y), " ", size(y), " ", y, " ", isequal(x, y)
    if type(y, "vec")
        z = uninit(size(y))
        parallel_do(numel(y), y, z, double_row)
        print y[1], " ", y[0,1], " ", y[[0,2]], " ", second(y), " ", summed(y), " ", z, " ", y[y > 1]
        y[2] = 7
        y[[0,1]] = 5
        print y, " ", y + [[1],[1]], " ", sum(y,0), " ", sum(y,1), " ", sum(y,2)
    else
        z = zeros(size(y))
        parallel_do(size(y), y, z, double_mat)
        print y[1,0], " ", corner(y), " ", z, " ", sum(y,0), " ", sum(y,1)
    endif
end
stored([1,2,3])
stored(zeros(1,3) + [1,2,3])
stored(reshape([1,2,3],[1,3,1]))
stored(reshape([1,2,3],[3,1,1]))
stored(reshape([1,2,3,4,5,6],[3,2,1]))
print size(zeros(1,5)), size(zeros(5,1,1)), type(zeros(1,5)), type(zeros(1,4,1)), type(zeros(4,5,1))
print zeros(1,3), " ", transpose(transpose([1,2,3])), " ", size(zeros(size(zeros(1,4,1))))
