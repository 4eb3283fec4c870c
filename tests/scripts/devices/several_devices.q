% needs: opencl
% devices: cpu

% Each launch runs on the device that use_device selected; arrays move there automatically.
function [] = __kernel__ add(x : vec, y : vec, v : scalar, pos : int)
    y[pos] = x[pos] + v
end

function [] = main()
    print(numel(devices()), " ", devices()[0].kind, " ", devices()[0].current)
    x = ones(1000)
    y = zeros(1000)
    before = use_device("opencl")
    parallel_do(1000, x, y, 1, add)     % y = 2, there
    use_device(before)
    parallel_do(1000, y, x, 1, add)     % x = 3, on the processor
    use_device(1)
    parallel_do(1000, x, y, x[0], add)  % y = 6, there again
    x[0] = 0                            % not known there
    parallel_do(1000, x, y, 0, add)
    sync()
    sync(0)
    print(sum(x), " ", sum(y), " ", y[0])
    d = devices()
    for i = 0..numel(d) - 1
        print(d[i].id, " ", d[i].kind, " ", d[i].current, " ", d[i].memory > 0)
    end
    print(use_device("auto:cpu,opencl"))
    parallel_do(1000, x, y, 1, add)
    print(sum(y), " ", use_device("cpu"))
    for wrong = {7, -1, 0.5, "toaster", "opencl:99", "nosuch.xml", ""}
        try
            use_device(wrong)
        catch e
            print(e)
        end
    end
end
