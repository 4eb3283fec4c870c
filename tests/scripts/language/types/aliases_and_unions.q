type image : cube
type matrix_type : [vec|mat|cube|cvec|cmat|ccube]
function y = g(x : matrix_type)
    y = "matrix"
end
function y = g(x : scalar)
    y = "scalar"
end
print g([1,2]), " ", g(ones(2,2)), " ", g(1j*[1,2]), " ", g(3)
function y = h(x : image)
    y = numel(x)
end
print h(ones(2,2,3))
