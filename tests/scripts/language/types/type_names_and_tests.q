print type(1), " ", type("s"), " ", type([1,2]), " ", type(ones(2,2)), " ", type(ones(2,2,2)), " ", type(cell(2))
print type([1,2], "vec"), type([1,2], "mat"), type(ones(2,2), "vec"), type(ones(2,2,2), "cube[scalar]"), type(1j, "cscalar")
print type(ones(2,2), "cube{:}"), type("s", "string"), type(x -> x), " ", type(sin)
A = {{1,2},{3}}
print type(A) == "vec[vec]" || type(A) == "vec[vec[??]]"
assert(type([1,2], "vec"))
print type(vec[mat](4))
print type(vec), " ", vec[int]
