% options: --precision 64
% Complex functions on the axes in a kernel, an expression and a loop.
import "axes.q"

function [] = __kernel__ mixed(z : cvec, w : cvec, pos : int)
    w[pos] = exp(z[pos])*sqrt(z[pos]) + asin(z[pos])^2
end
function w = in_a_kernel(z)
    w = complex(zeros(numel(z)), zeros(numel(z)))
    parallel_do(numel(z), z, w, mixed)
end
check_twice("a kernel", in_a_kernel)
function w = in_a_loop(z)
    w = complex(zeros(numel(z)), zeros(numel(z)))
    for k = 0..numel(z)-1
        w[k] = log(z[k])*tanh(z[k]) + atan(z[k])
    end
end
check("a loop", in_a_loop)

check("an expression", z -> sqrt(z)./cosh(z) + z.^z)
print "checked"
