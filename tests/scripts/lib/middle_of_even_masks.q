% For a mask of even size imfilter uses the centre of scipy.signal.convolve, conv and conv2 the centre of MATLAB's
% conv2, which is one further.  Both give np.convolve(x, h)[first:first+8], with first 1 and 2.
import "imfilter.q"
x = zeros(1,8)
x[0,3] = 1
h = [1,2,3,4]
print imfilter(x, h, boundary:="zeros")[0,:]
print conv(x[0,:], h, "same")
print conv2(x, h, "same")[0,:]
print transpose(imfilter(transpose(x), transpose(h), boundary:="zeros"))[0,:]
print imfilter(x, h, [0,0], "zeros")[0,:], conv(x[0,:], [1,2,3], "same"), imfilter(x, [1,2,3])[0,:]
