% mod of floats is exact in kernels, for any quotient, and the same as on the host
function [] = __kernel__ remainders(a : vec, b : vec, y : vec, pos : int)
  y[pos] = mod(a[pos], b[pos])
end
function [] = __kernel__ wide_remainders(a : vec[float64], b : vec[float64], y : vec[float64], pos : int)
  y[pos] = mod(a[pos], b[pos])
end
function [] = compare(kernel, a, b)
  y = copy(a)
  parallel_do(numel(a), a, b, y, kernel)
  want = mod(a, b)
  bad = 0
  for i = 0..numel(a)-1
    bad += !(y[i] == want[i] || (isnan(y[i]) && isnan(want[i])))
    bad += want[i] == 0 && 1/y[i] != 1/want[i]   % the sign of zero
  end
  print bad, " of ", numel(a), " differ"
end
edges = [0, 1, -1, 2.5, -2.5, 3, -3, 7, 0.1, -0.1, 1e-30, -1e-30, 1e30, -1e30, 16777217, 1e10, -1e10, inf, -inf, nan]
n = numel(edges)
a = zeros(n*n)
b = zeros(n*n)
for i = 0..n*n-1
  a[i] = edges[floor(i/n)]
  b[i] = edges[mod(i, n)]
end
compare(remainders, a, b)
compare(wide_remainders, float64(a), float64(b))
a = randn(3000).*exp(20*randn(3000))
b = randn(3000).*exp(3*randn(3000))
compare(remainders, a, b)
compare(wide_remainders, float64(a).*1.1, float64(b)./1.3)
near = floor(100*rand(3000))
b = 1 + rand(3000)
compare(remainders, near.*b, b)   % quotients beside integers
compare(wide_remainders, float64(near).*b, float64(b))
