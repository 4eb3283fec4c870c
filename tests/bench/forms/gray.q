% The luminance of a color image.
function x = inputs()
    x = reshape(mod(0..749999, 256), [500,500,3])
end
function y = with_channels(x)
    y = 0.3*x[:,:,0] + 0.6*x[:,:,1] + 0.1*x[:,:,2]
end
function y = with_for(x)
    y = zeros(size(x,0), size(x,1))
    for i = 0..size(x,0)-1
        for j = 0..size(x,1)-1
            y[i,j] = 0.3*x[i,j,0] + 0.6*x[i,j,1] + 0.1*x[i,j,2]
        end
    end
end
function y = with_weights(x)
    y = sum(x.*reshape([0.3,0.6,0.1], [1,1,3]), 2)
end
function [] = __kernel__ luminance(x : cube, y : mat, pos : ivec2)
    y[pos] = 0.3*x[pos[0],pos[1],0] + 0.6*x[pos[0],pos[1],1] + 0.1*x[pos[0],pos[1],2]
end
function y = with_kernel(x)
    y = zeros(size(x,0), size(x,1))
    parallel_do(size(y), x, y, luminance)
end
