% needs: python numpy
% devices: one
import "pyquasar.${BITNESS}.${NATIVEEXT}"

py = pyimport("builtins")
np = pyimport("numpy")

reduction x-> x.T = np.transpose(x)

function [] = test1()
    v = np.array([1,2,3]) % v has shape (3,)
    w = np.array([4,5]) % w has shape (2,)

    % Keyword arguments are supported
    py.print("v",v,sep:="=")

    % To compute an outer product, we first reshape v to be a column
    % vector of shape (3, 1); we can then broadcast it against w to yield
    % an output of shape (3, 2), which is the outer product of v and w
    py.print(np.reshape(v, pyint([3, 1])) * w)
    py.print(py.tuple({1,2,3,4}))
endfunction
test1()
