% devices: cpu
% needs: opencl
% options: --device auto:cpu,opencl

% The result does not depend on the device of a launch, nor on how often the device changes.
function [] = __kernel__ step(x : mat, y : mat, v : scalar, pos : ivec2)
    s = 0.0
    for k = 0..20
        s += x[pos[0], mod(pos[1] + k, size(x, 1))]
    end
    y[pos] = s / 21 + v
end

function [] = main()
    x = ones(200, 300)
    y = zeros(200, 300)
    for turn = 1..150
        parallel_do(size(x), x, y, 0.5, step)
        parallel_do(size(x), y, x, -0.5, step)
        if mod(turn, 50) == 0
            print(turn, ": ", x[17, 18], " ", sum(y) / numel(y))
        end
    end
end
