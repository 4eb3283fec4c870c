% devices: opencl
% The same by kernels on an OpenCL device, which may be a CPU; only a few cases, because its compiler is slow.
import "convolution_cases.q"
compare("strides", [2,4,9,8], [8,3,2], [2,1], [1,2], [1,2], 2, "", {false}, {"always"})
compare("depthwise", [2,4,6,7], [4,3,3], [2,2], [1,1], [1,1], 4, "dy", {false}, {"always"})
compare_bias({"always"})
compare_random(4, {"always"})
