% An element that several positions write with = has no defined derivative; distinct elements have one.
function [] = __kernel__ scattered(x : vec, at : ivec, y : vec, pos : int)
    y[at[pos]] = x[pos]^2
end
function s = by_kernel(x, at)
    y = zeros_like(x)
    parallel_do(numel(x), x, at, y, scattered)
    s = sum(y.*cast_like(1..numel(x), x))
end
function [] = told(name, f, x)
    try
        print name, ": ", grad(f, x)
    catch e
        print name, ": ", e
    end
end
told("a permutation", x -> by_kernel(x, int([2,0,1])), [1,2,3])
told("and outside", x -> by_kernel(x, int([2,0,7])), [1,2,3])
told("one twice", x -> by_kernel(x, int([2,0,2])), [1,2,3])

function [] = __kernel__ row_to_one(x : mat, y : vec, pos : ivec2)
    y[pos[0]] = 3*x[pos]
end
function s = of_rows(x)
    y = zeros_like(x, size(x,0))
    parallel_do(size(x), x, y, row_to_one)
    s = sum(y)
end
told("rows of one element", of_rows, [[1],[2]])
told("of two", of_rows, [[1,2],[2,3]])

% a position may write several elements, or one several times; writes without a derivative do not count
function [] = __kernel__ triples(x : vec, y : vec, pos : int)
    for k = 0..2
        y[3*pos+k] = 7
        y[3*pos+k] = k*x[pos]
    end
end
function s = of_triples(x)
    y = ones_like(x, 3*numel(x))
    parallel_do(numel(x), x, y, triples)
    s = sum(y.^2)
end
told("triples", of_triples, [1,2])
function [] = __kernel__ cleared(x : vec, y : vec, pos : int)
    y[0] = 5
    if pos == 2
        y[1] = x[pos]
    end
end
function s = of_cleared(x)
    y = x.*x
    parallel_do(numel(x), x, y, cleared)
    s = sum(y)
end
told("cleared by all", of_cleared, [1,2,3])
function [] = __kernel__ cleared_and_set(x : vec, y : vec, pos : int)
    y[0] = 5
    if pos == 2
        y[0] = x[pos]
    end
end
function s = of_both(x)
    y = x.*x
    parallel_do(numel(x), x, y, cleared_and_set)
    s = sum(y)
end
told("cleared by all and set by one", of_both, [1,2,3])

function [] = __kernel__ complex_scatter(z : cvec, at : ivec, y : cvec, pos : int)
    y[at[pos]] = z[pos]*z[pos]
end
function s = of_complex(z, at)
    y = 0*z
    parallel_do(numel(z), z, at, y, complex_scatter)
    s = sum(real(y.*[1,2]))
end
told("complex", z -> of_complex(z, int([1,0])), complex([1,2],[3,4]))
told("complex, twice", z -> of_complex(z, int([1,1])), complex([1,2],[3,4]))
print hessian(x -> by_kernel(x, int([2,0,1])), [1,2,3])

% the same for tangents
function y = scatters(x, at)
    y = zeros_like(x)
    parallel_do(numel(x), x, at, y, scattered)
end
for at = {int([2,0,1]), int([2,0,2])}
    try
        [y, dy] = jvp(x -> scatters(x, at), [1,2,3], [1,2,3])
        print dy
    catch e
        print e
    end
end
