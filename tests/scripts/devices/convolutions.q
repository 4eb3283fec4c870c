% tolerance: 2e-4
% Convolutions and their gradients: by cuDNN if it is available, otherwise by kernels or on the CPU.
import "Quasar.DNN.dll"

wave = s -> reshape(sin(float64(1..prod(s))*0.7)*2, s)
function [] = told(name, list)
    for y = list
        name = sprintf("%s %.4f %.4f", name, sum(y), sum(float64(y).*cos(reshape(float64(0..numel(y)-1), size(y)))))
    end
    print name
end

% values and the gradients with respect to images, weights and bias
function [] = all_of(name, x, w, stride, padding, dilation, groups)
    b = reshape(cast_like(wave([1,size(w,0)]), x), [1,size(w,0)])
    [y, pull] = vjp((x, w, b) -> conv2d(x, w, b, stride, padding, dilation, groups), x, w, b)
    [dx, dw, db] = pull(cast_like(wave(size(y, 0..3)), y))
    told(name, {y, dx, dw, db, conv2d(x, w, null, stride, padding, dilation, groups)})
end

for wide = {false, true}
    of = s -> wide ? wave(s) : float32(wave(s))
    all_of("plain", of([2,3,7,9]), of([4,3,3,3]), 1, 0, 1, 1)
    all_of("odd", of([3,2,5,11]), of([5,2,2,4]), [2,3], [1,2], [2,1], 1)
    all_of("groups", of([2,6,8,5]), of([9,2,3,2]), 1, 1, 1, 3)
    all_of("depthwise", of([1,4,6,6]), of([8,1,3,3]), 2, 1, 1, 4)
    all_of("padding", of([1,1,3,3]), of([2,1,2,2]), 1, [3,4], 1, 1)
    all_of("one", of([1,1,1,1]), of([1,1,1,1]), 1, 0, 1, 1)
    all_of("skips", of([1,2,9,10]), of([3,2,1,2]), [3,4], 0, 1, 1)
    all_of("column", of([4,2,13,1]), of([3,2,3,1]), [2,1], [1,0], 1, 1)
    x = of([3,4,5,6])
    told("transposed", {conv_transpose2d(x, of([4,3,3,2]), of([1,6]), [2,3], 1, [1,2], [1,2], 2)})
    told("views", {conv2d(x[1..2,:,:,:], of([2,4,2,2])), conv2d(x[:,1..2,:,:], of([2,2,3,3])), conv2d(x[:,:,1..3,:], of([2,4,2,2])), _
                   conv_planes_weights(x[:,1..2,:,:], x[:,2..3,:,:], [2,2,1,1], 1, 0, 1, 1), conv2d(x, of([3,4,2,2])[1..2,:,:,:])})
    print type(conv2d(x, of([2,4,2,2]))), " ", size(conv2d(of([2,4,5,6])[0..-1,:,:,:], of([2,4,2,2])))
    told("empty", {conv_planes_weights(x[0..-1,:,:,:], x[0..-1,0..1,0..3,0..4], [2,4,2,2], 1, 0, 1, 1)})
end
told("whole", {conv2d(uint8(reshape(mod(0..71, 11), [1,2,6,6])), float32(wave([2,2,3,3])))})
told("half", {conv2d(float16(wave([1,2,6,6])), float16(wave([2,2,3,3])))})

% A non-finite element affects exactly the results whose windows contain it.
odd = x -> [sum(x != x), sum(x - x != 0)]
x = float32(wave([1,2,6,6]))
w = float32(wave([2,2,3,3]))
dy = float32(wave([1,2,3,3]))
for k = 0..2
    p = copy(x)
    q = copy(w)
    d = copy(dy)
    if k == 0
        p[0,1,2,3] = nan
    elseif k == 1
        q[1,0,1,1] = inf
    else
        d[0,0,2,2] = nan
    end
    print odd(conv_planes(p, q, 2, 1, 1, 1)), " ", odd(conv_planes_input(d, q, [1,2,6,6], 2, 1, 1, 1)), " ", _
          odd(conv_planes_weights(p, d, [2,2,3,3], 2, 1, 1, 1))
end

% second derivatives
y = wave([1,2,4,4])
print gradcheck(w -> sum(grad(w -> sum(conv2d(y, w, null, 2, 1).^3), w).^2), wave([2,2,3,3])/2)
print gradcheck((x, w) -> sum(grad((x, w) -> sum(conv_transpose2d(x, w, null, 2, 1).^3), x, w)), y, wave([2,1,2,2]))
