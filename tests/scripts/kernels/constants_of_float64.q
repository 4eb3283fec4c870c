% nan and inf combined with float64 are float64, too.
function [] = __kernel__ ends(y : vec[float64], x : vec[float64], pos : int)
    y[pos] = max(0.0/0.0, x[pos]) + min(x[pos], 1/0) + max(x[pos], -1/0)
end
y = float64([0, 0, 0])
parallel_do(3, y, float64([1, 2, 0.5]), ends)
print y
