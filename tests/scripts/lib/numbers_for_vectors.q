% A single angle or coefficient is accepted for a vector.
import "radon.q"
import "signal.q"
x = reshape(0..24, [5,5])
print size(radon(x, 45)), " ", isequal(radon(x, 45), radon(x, [45]))
y = filter(0.1, [1,-0.9], ones(1,20))
print isequal(y, filter(float64([0.1]), [1,-0.9], ones(1,20))), " ", isequal(filter([1,2], 2, 0..4), filter([1,2], [2], 0..4))
