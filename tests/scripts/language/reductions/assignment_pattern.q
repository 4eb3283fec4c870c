type M : [vec|mat|cube]
reduction (x : M, k : scalar, c) -> (fill_at(x, k) = c) = (x[k] = c)
v = zeros(3)
fill_at(v, 1) = 5
print v
