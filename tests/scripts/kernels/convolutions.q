% devices: cpu ref cuda
% Convolutions of neural layers and their gradients: strides, paddings, dilations, groups; nan and inf affect exactly
% the results that depend on them.
import "convolution_cases.q"

one = [1,1]
compare("small", [2,3,5,6], [9,3,3], one, one, one, 1, "")
compare("no padding", [1,2,6,5], [8,2,3], one, [0,0], one, 1, "")
compare("one by one", [2,5,4,3], [6,1,1], one, [0,0], one, 1, "")
compare("strides", [2,4,9,8], [8,3,2], [2,1], [1,2], [1,2], 2, "")
compare("steps over", [1,2,9,8], [4,2,2], [3,4], [1,0], one, 1, "")
compare("depthwise", [2,4,6,7], [4,3,3], [2,2], one, one, 4, "")
compare("two each", [1,3,6,7], [6,3,3], one, one, [2,2], 3, "")
for odd = {"x", "dy", "w"}
    compare("small", [2,2,5,6], [5,3,3], one, one, one, 1, odd)
    compare("strides", [2,4,9,8], [8,3,2], [2,1], [0,1], [1,2], 2, odd)
    compare("one by one", [3,4,2,3], [6,1,1], one, [0,0], one, 2, odd)
    compare("depthwise", [1,2,5,4], [2,3,3], one, [0,2], one, 2, odd)
end

compare_bias()
compare_random(60, {"never", "always"})
print gradcheck((x, w, b) -> sum(conv_planes(x, w, [2,1], 1, 1, 2, b).^2), reshape(wave(64, 0.7), [2,2,4,4]), _
                reshape(wave(36, 1.3), [4,1,3,3]), wave(4, 0.3))
print gradcheck(w -> sum(grad(w -> sum(conv_planes(reshape(wave(32, 0.7), [1,2,4,4]), w, 1, 1, 1, 1).^3), w).^2), _
                reshape(wave(36, 1.3), [2,2,3,3])/2)
