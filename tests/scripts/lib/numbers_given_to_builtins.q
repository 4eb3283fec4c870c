% A number passed to a built-in loses no digit: it is float64 on its own, or has the type of the other array arguments.
print mean(123456789.123) == 123456789.123, any(1e-300), sum(16777217.5) - 16777217.5, sum(1e300), find(1e-60)
print setdiff(float64([0.1,0.2]), 0.1), ismember(0.1, float64([0.1,0.2])), isequal(float64([0.1]), 0.1), isequal([5,6], 5)
print union(0.1, float64([1]))[0] - 0.1, unique(0.1)[0] - 0.1, setxor(float64([0.1]), 0.1), intersect(0.1, float64([0.1]))
print quantile(float64([2,-4]), 0.8515680698511308), " ", median(0.1) - 0.1, abs(det(0.1) - 0.1) < 1e-16, trace(0.1) - 0.1
print interp1(float64(0..3), float64(0..3), 0.1) - 0.1, interp2(float64([[0,1],[0,1]]), 0.1, 0) - 0.1
print polyval(float64([1,0]), 0.1) - 0.1, solve(float64([[1]]), 0.1) - 0.1, bincount(0, 1, 0.1) - 0.1, dotprod(0.1, 1) - 0.1
print conv(float64([1,2]), 0.1) - float64([0.1,0.2]), kron(0.1, float64([1,2])) - float64([0.1,0.2])
print cumsum(0.1) - 0.1, sort(0.1) - 0.1, reshape(0.1, [1,1]) - 0.1, norm(0.5), fft1(0.1) - 0.1, transpose(0.1) - 0.1
print horzcat(float64([1,2]), 0.1)[2] - 0.1, vertcat(0.1, 0.2)[1,0] - 0.2, cat(1, 0.1, float64([1]))[0] - 0.1

% combined with float32 it is float32, as in arithmetic; constructors give arrays of the type that a list has
print type(horzcat([1,2], 0.1)), type(kron([1,2], 0.1)), type(solve([[2]], 0.1)), type(polyval([1,2], [0.1])), type(union([1], 0.1))
print type(horzcat([], 0.1)), type(horzcat([], [])), type(horzcat(uint8([1]), int(300))), type(horzcat(int([1]), 0.5))
print type(repmat(0.5, 2, 2)), repmat(0.1, 1, 2)[0] == [0.1][0], type(repmat(123456789, 1, 2)), type(linspace(0, 1, 3))
print linspace(16777217, 16777219, 3), type(zeros_like(0.5)), type(cast_like([1,2], 0.5))
% integers of 32 bits and more combined with floats are float64 here, too
print type(conv(int([1,2]), int([1,2]))), type(inv(int([[2]]))), type(conv(uint8([1,2]), uint8([1,2])))
print horzcat(int([1]), int(2^40)), ismember(int(2^40), int([1,2]))
