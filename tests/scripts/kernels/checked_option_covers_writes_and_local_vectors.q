% options: --checked
function [] = __kernel__ outside(y : mat, pos : ivec2)
    y[pos[0], pos[1]+2] = 1
end
function [] = __kernel__ local(y : vec, n : int, pos : int)
    a = zeros(4)
    a[pos+n] = 2
    y[pos] = a[1]
end
function [] = __kernel__ gather(x : vec, i : vec, y : vec, pos : int)
    y[pos] = x[i[pos]]
end
function [] = __kernel__ slice(x : mat, y : vec, pos : int)
    y[pos] = sum(x[pos, 2..6])
end
function [] = __kernel__ modes(x : mat'mirror, z : mat'safe, y : vec, pos : int)
    y[pos] = x[pos-5, 0] + z[pos-5, 1] % what these modes mean is never an error
end
function [] = report(f)
    try
        f()
    catch e
        print e
    end
end
report(() -> serial_do([3,4], zeros(3,4), outside))
report(() -> serial_do(4, zeros(4), 2, local))
report(() -> serial_do(3, ones(10), [0,9,-5], zeros(3), gather))
report(() -> serial_do(2, ones(2,5), zeros(2), slice))
y = zeros(2)
serial_do(2, ones(2,5), ones(2,5), y, modes)
print y
