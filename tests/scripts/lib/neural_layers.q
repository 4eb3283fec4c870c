% tolerance: 2e-5
% Layers of dnn.q: reference numbers from torch, derivatives by differences, training, errors.
import "Quasar.DNN.dll"

% sine-like numbers that are equal in float32 and float64 up to the last printed digit
wave = s -> reshape(sin(float64(1..prod(s))*0.7)*2, s)
x = wave([2,4,5,6])
sums = y -> [sum(y), sum(y.*cos(reshape(float64(0..numel(y)-1), size(y))))]
function [] = show(name, y)
    s = float64(size(y))
    text = sprintf("%g", s[0])
    for k = 1..numel(s)-1
        text = sprintf("%sx%g", text, s[k])
    end
    printf("%s %s: %.5f %.5f", name, text, sum(y), sum(y.*cos(reshape(float64(0..numel(y)-1), size(y)))))
end
w = wave([6,2,3,2])
show("conv2d", conv2d(x, w, wave([1,6]), [2,1], [1,2], [1,2], 2))
show("conv_planes", conv_planes(x, wave([3,4,1,1]), 1, 0, 1, 1))
show("conv_planes_input", conv_planes_input(wave([2,3,5,6]), wave([3,4,1,1]), [2,4,5,6], 1, 0, 1, 1))
show("conv_planes_weights", conv_planes_weights(x, wave([2,3,5,6]), [3,4,1,1], 1, 0, 1, 1))
print sum(conv_planes(x, w, [2,1], 1, 1, 2)), " ", sum(conv_planes_input(x, wave([4,3,2,1]), [2,3,6,6], 1, 0, 1, 1))
print sum(conv_planes_weights(x, x, [4,4,1,1], 1, 0, 1, 1)), " ", conv_planes_bias(x)
show("depthwise_conv2d", depthwise_conv2d(x, wave([4,1,3,3]), padding:="same"))
show("conv_transpose2d", conv_transpose2d(x, wave([4,3,3,3]), wave([1,6]), [2,3], 1, 1, 1, 2))
show("max_pool2d", max_pool2d(x, 2))
show("max_pool2d", max_pool2d(x, 3, 2, 1))
show("avg_pool2d", avg_pool2d(x, [2,3], [2,1], 1))
show("global_avg_pool2d", global_avg_pool2d(x))
show("upsample", upsample(x, [2,3]))
show("upsample", upsample(x, 2, "bilinear"))
show("batch_norm", batch_norm(x, wave([1,4]), wave([1,4])))
show("group_norm", group_norm(x, 2, wave([1,4]), wave([1,4])))
show("instance_norm", instance_norm(x))
show("layer_norm", layer_norm(x, wave([5,6]), wave([5,6]), 2))
show("linear", linear(x, wave([3,6]), wave([1,3])))
show("relu", relu(x))
show("leaky_relu", leaky_relu(x))
show("elu", elu(x))
show("sigmoid", sigmoid(x))
show("silu", silu(x))
show("gelu", gelu(x))
show("gelu", gelu(x, true))
show("softplus", softplus(x))
show("softmax", softmax(x))
show("log_softmax", log_softmax(x))
show("embedding", embedding(wave([5,3]), [[0,4],[1,1]]))
show("attention", attention(wave([2,2,3,4]), wave([2,2,5,4]), wave([2,2,5,3]), wave([3,5])))
show("attention", attention(wave([2,2,3,4]), wave([2,2,3,4]), wave([2,2,3,3]), causal:=true))
printf("losses: %.5f %.5f %.5f %.5f", mse_loss(x, 0*x), l1_loss(x, 0*x), cross_entropy(wave([3,4]), [0,3,1]),
       cross_entropy(x, reshape(mod(0..59, 4), [2,5,6]), 0.1))
print relu([-1,0,2,nan]), max_pool2d(reshape([1,nan,2,3], [1,1,2,2]), 2)

% first and second derivatives
y = wave([2,2,4,4])
print gradcheck((x, w, b) -> sum(conv2d(x, w, b, 2, 1).^3), y, wave([2,2,3,3]), wave([1,2]))
print gradcheck(w -> sum(grad(w -> sum(conv2d(y, w, null, 1, 1).^3), w).^2), wave([2,2,3,3])/2)
print gradcheck((x, w) -> sum(conv_transpose2d(x, w, null, 2).^3), y, wave([2,2,2,2]))
print gradcheck(x -> sum(grad(x -> sum(max_pool2d(x, 2).^3), x).^2), y)
print gradcheck(x -> sum(grad(x -> sum(avg_pool2d(x, 2).^3), x).^2), y)
print gradcheck(x -> sum(grad(x -> sum(upsample(x, 2, "bilinear").^3), x).^2), y)
print gradcheck(x -> sum(grad(x -> sum(silu(batch_norm(x, wave([1,2]))).^3), x).^2), y)
print gradcheck((x, g) -> sum(group_norm(x, 1, g).^3), y, wave([1,2]))
print gradcheck(x -> sum(layer_norm(x, null, null, 3).^3), y)
print gradcheck((q, k, v) -> sum(attention(q, k, v).^3), y, y, y)

% training: weights in an object, with each optimiser
randseed(3)
clean = wave([4,1,8,8])
noisy = clean + 0.5*randn(4,1,8,8)
function net = network()
    net = object()
    net.first = he_normal([4,1,3,3])
    net.bias = zeros(4)
    net.more = {he_normal([1,4,3,3]), 0.0}
end
loss = (net, x, t) -> mse_loss(conv2d(relu(conv2d(x, net.first, net.bias, padding:=1)), net.more[0], padding:=1) + net.more[1], t)
function ratio = trained(step, loss, x, t)
    net = network()
    state = null
    before = loss(net, x, t)
    for k = 1..60
        [net, state] = step(net, grad(net -> loss(net, x, t), net), state)
    end
    ratio = loss(net, x, t)/before
end
print trained((w, g, s) -> ([w, s] = sgd(w, g, s, rate:=0.02, momentum:=0.9); {w, s}), loss, noisy, clean) < 0.3
print trained((w, g, s) -> ([w, s] = adam(w, g, s, rate:=0.02); {w, s}), loss, noisy, clean) < 0.3
print numel(dropout(ones(1,1000), 0.25)) == 1000, isclose(mean(dropout(ones(1,100000), 0.25)), 1, 0.02), dropout([1,2], 0.5, false)

function [] = refused(f)
    try
        f()
        print "this should have been refused"
    catch e
        print e
    end
end
refused(() -> conv2d(zeros(1,3,5,5), zeros(2,4,3,3)))
refused(() -> conv2d(zeros(1,3,2,5), zeros(2,3,3,3)))
refused(() -> conv2d(zeros(1,3,5,5), zeros(2,3,3,3), zeros(3)))
refused(() -> conv2d(zeros(1,4,5,5), zeros(3,2,3,3), null, 1, 0, 1, 2))
refused(() -> conv2d(zeros(1,3,5,5), zeros(2,3,3,3), null, 0))
refused(() -> conv2d(zeros(1,3,5,5), zeros(2,3,3,3), null, 1.5))
refused(() -> conv2d(zeros(1,3,5,5), zeros(2,3,2,3), padding:="same"))
refused(() -> conv2d(complex(zeros(1,3,5,5)), zeros(2,3,2,3)))
refused(() -> conv_planes_input(zeros(1,2,3,3), zeros(2,3,3,3), [1,3,6,5], 1, 0, 1, 1))
refused(() -> max_pool2d(zeros(1,1,4,4), 5))
refused(() -> max_pool2d(zeros(1,1,4,4), 2, 2, 2))
refused(() -> cross_entropy(zeros(2,3), [0,3]))
refused(() -> group_norm(zeros(2,3,4,4), 2))
refused(() -> embedding(zeros(3,2), [0,3]))
refused(() -> embedding(zeros(3,2), 5))
refused(() -> cross_entropy(zeros(1,3), 7))
refused(() -> grad(w -> 3, {"a"}))
refused(() -> cross_entropy(zeros(2,3,4,5), zeros(4,5,2)))
refused(() -> upsample(zeros(1,1,2,2), 0.5))
[y, pull] = vjp(x -> relu(x), [1,2,3])
refused(() -> pull([[1,2,3],[4,5,6]]))
refused(() -> linear(zeros(5,3), zeros(3,4)))
refused(() -> linear(zeros(5,3), zeros(4,3), zeros(3)))
refused(() -> attention(zeros(2,3,4), zeros(2,3,4), zeros(2,3,4)))
refused(() -> attention(zeros(1,2,3,4), zeros(1,2,5,6), zeros(1,2,5,4)))
refused(() -> attention(zeros(1,2,3,4), zeros(1,2,5,4), zeros(1,2,6,4)))
refused(() -> attention(zeros(1,2,3,4), zeros(1,2,5,4), zeros(1,2,5,4), zeros(3,4)))
refused(() -> softmax(zeros(3,4), 2))
refused(() -> max_pool2d(zeros(1,1,4,4), "2"))
refused(() -> adam([1,2], [1,1], rate:=nan))
refused(() -> adam([1,2], [1,1], beta1:=1))
refused(() -> adam({[1,2],[1]}, {[1,1]}))
refused(() -> sgd([1,2], [1,1], rate:=-1))
refused(() -> sgd([1,2], [1,1,1]))
refused(() -> he_normal(3))

% Integers are converted to float32, and trailing dimensions of 1 count if they were created explicitly.
bytes = uint8(reshape(0..31, [1,2,4,4]))
layers = {x -> max_pool2d(x, 2), x -> avg_pool2d(x, 2), x -> upsample(x, 2), x -> upsample(x, 2, "bilinear"), x -> batch_norm(x), _
          x -> group_norm(x, 2), x -> layer_norm(x)}
for layer = layers
    write(isequal(layer(bytes), layer(float32(bytes))), type(layer(bytes)), type(layer(float64(bytes))), " ")
end
print ""
x = reshape([1,2,4,8], [1,1,4,1])
print ndims(x), " ", ndims(x, true), " ", abs(mean(layer_norm(x, count:=2))) < 1e-6, " ", max(abs(layer_norm(x))) < 1e-3
q = reshape([1,2,3,4], [1,2,2,1])
print size(attention(q, q[:,:,0..0,:], q[:,:,0..0,:], causal:=true))
print size(linear(q, ones(5,1))), " ", size(grad((q,w) -> sum(linear(q, w)), q, ones(5,1)))
% boolean masks; integers; the dimension of a vec, and the last one; indices of a factor in double precision
z = randn(1,2,3,4)
print max(abs(attention(z, z, z, reshape([0,1,2],[3,1]) >= [0,1,2]) - attention(z, z, z, causal:=true))) < 1e-6
print isclose(mean(dropout(int(ones(1,100000)), 0.4)), 1, 0.02), " ", max(abs(softmax([1,2,3]) - softmax([[1,2,3]], -1))) < 1e-6
print isclose(sum(softmax([1,2,3], -1)), 1, 1e-6), " ", exp(log_softmax([2,2], -1)), " ", exp(log_softmax([2,2], 0))
refused(() -> softmax([[1,2],[3,4]], 2))
print abs(upsample(reshape(float64([0,1,4]), [1,1,1,3]), 2.3, "bilinear")[0,0,0,3] - (1 + 3*(3.5/float64(2.3) - 1.5))) < 1e-12
% a weight without a gradient in a step keeps its state: its first step is as long as the first step of the others
[p, s] = {{float64([1,2]), float64([3])}, null}
for k = 1..4
    [p, s] = adam(p, {null, float64([1])}, s, rate:=0.1)
end
[p, s] = adam(p, {float64([1,1]), null}, s, rate:=0.1)
print max(abs(p[0] - [0.9,1.9])) < 1e-6, " ", abs(p[1] - 2.6) < 1e-6
[p, s] = {{float64([1])}, null}
for g = {float64([1]), null, float64([1])}
    [p, s] = sgd(p, {g}, s, rate:=0.1, momentum:=0.9)
end
print abs(p[0] - (1 - 0.1 - 0.19)) < 1e-6
refused(() -> adam([1,2], [1,1], 3))
