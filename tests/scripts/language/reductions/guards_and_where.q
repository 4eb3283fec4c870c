type matrix_type : [vec|mat|cube]
reduction (x : matrix_type) -> total(x) = sum(x)
reduction (x : scalar) -> total(x) = x
print total([1,2,3]), total(5)
reduction (x : scalar) -> posabs(x) = x where x >= 0
reduction (x : scalar) -> posabs(x) = -x where x < 0
print posabs(3), posabs(-4)
