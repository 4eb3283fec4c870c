% options: --precision 64
% tolerance: 1e-5
% Updates other than sums of elements that several positions share.
import "check.q"

function [] = __kernel__ largest(x : vec, y : vec'unchecked, pos : int)
    y[mod(pos,3)] ^^= x[pos]*x[pos]*exp(x[pos])
end
function [] = __kernel__ smallest(x : vec, y : vec'unchecked, n : int, pos : int)
    for i = 0..n-1
        if x[i] > 0
            y[mod(pos+i,3)] __= sin(x[i])*x[pos] + i
        end
    end
end
function [] = __kernel__ product(x : vec, y : vec'unchecked, pos : int)
    y[mod(pos,3)] *= x[pos] + 1
end
function [] = __kernel__ quotient(x : vec, y : vec'unchecked, pos : int)
    if pos != 4
        y[mod(pos,2)] *= x[pos]
    else
        y[mod(pos,2)] /= x[pos] + 2
    end
end
function y = all_of(x, start)
    y = copy(start)
    parallel_do(numel(x), x, y, largest)
end
check("max", x -> sum(all_of(x, [0.1,0.2,9.0]).*[1,2,3]), wave(8))
check("max, what was there", y -> sum(all_of(wave(8), y).*[1,2,3]), [0.1,0.2,9.0])
function s = smaller(x)
    y = [5.0,1.0,-2.0]
    parallel_do(numel(x), x, y, numel(x), smallest)
    s = sum(y.*[1,2,3])
end
check("min, in a loop", smaller, wave(7))
function y = product_of(x, start)
    y = copy(start)
    parallel_do(numel(x), x, y, product)
end
check("product", x -> sum(product_of(x, [0.5,2.0,3.0])), wave(8))
check("product, what was there", y -> sum(product_of(wave(8), y).^2), [0.5,0.0,3.0])
function s = quotients(x)
    y = [1.0,2.0]
    parallel_do(numel(x), x, y, quotient)
    s = sum(y.^2)
end
check("product and quotient", quotients, wave(7))

% ties share the gradient, as in torch; also ties with the previous element
function [] = __kernel__ winner(x : vec, y : vec'unchecked, z : vec'unchecked, pos : int)
    y[0] ^^= x[pos]
    z[0] __= -x[pos]
end
function s = won(x, start)
    y = ones(1)*start
    z = [9.0]
    parallel_do(numel(x), x, y, z, winner)
    s = y[0] + 10*z[0]
end
print grad(x -> won(x, 0.0), [1.0,3.0,3.0])
print grad(x -> won(x, 3.0), [1.0,3.0,3.0]), grad(s -> won([1.0,3.0,3.0], s), 3.0)
print hessian(x -> won(x.^2, 0.0), [1.0,2.0,3.0])

% products with zeros, and their second derivatives
function [] = __kernel__ multiply(x : vec, y : vec'unchecked, pos : int)
    y[0] *= x[pos]
end
function s = multiplied(x, start)
    y = ones(1)*start
    parallel_do(numel(x), x, y, multiply)
    s = y[0]
end
for z = {[2.0,3.0,5.0], [2.0,0.0,5.0], [0.0,3.0,0.0], [0.0,0.0,0.0]}
    f = x -> multiplied(x, 2.0)
    g = x -> 2*x[0]*x[1]*x[2]
    print grad(f, z), max(abs(grad(f, z) - grad(g, z))), max(abs(hessian(f, z) - hessian(g, z))), grad(y -> multiplied(z, y), 2.0)
end
print hvp(x -> multiplied(x, 2.0), [2.0,3.0,5.0], [1.0,0.0,0.0])
[y, dy] = jvp(x -> multiplied(x, 2.0), [2.0,0.0,5.0], [1.0,1.0,1.0])
print y, " ", dy
% forward mode agrees with reverse mode: ties, zeros, second derivatives
function dy = tangent(f, x, v)
    [y, dy] = jvp(f, x, v)
end
print tangent(x -> won(x, 3.0), [1.0,3.0,3.0], [5.0,6.0,12.0]), " ", tangent(x -> won([1.0,3.0,3.0], x), 3.0, 1.0)
v = [1.0,4.0,2.0]
for z = {[2.0,3.0,5.0], [2.0,0.0,5.0], [0.0,3.0,0.0], [0.0,0.0,0.0]}
    f = x -> multiplied(x, 2.0)
    print tangent(f, z, v) - sum(grad(f, z).*v), " ", tangent(x -> tangent(f, x, v), z, v) - sum(v.*hvp(f, z, v))
end
print tangent(x -> sum(tangent(x -> all_of(x, [0.1,0.2,9.0]), x, wave(8))), wave(8), wave(8))
h = 1e-5
up = tangent(x -> all_of(x, [0.1,0.2,9.0]), wave(8)*(1+h), wave(8))
print (sum(up) - sum(tangent(x -> all_of(x, [0.1,0.2,9.0]), wave(8)*(1-h), wave(8))))/(2*h)
third = x -> grad(y -> grad(z -> multiplied(z, 1.0), y)[0], x)[1]
print grad(third, [2.0,3.0,5.0]), grad(third, [2.0,0.0,5.0])
print isnan(sum(grad(third, [2.0,0.0,0.0])))
% far beyond the range of float64: the result is unknown (nan), not wrong
print isnan(grad(x -> multiplied(x, 1.0), [1e-200,1e-200])[0]), grad(x -> multiplied(x, 1.0), [1e-100,1e-100])[0]

% a slice of a matrix that does not begin at its first element
function [] = __kernel__ column(x : vec, y : mat'unchecked, pos : int)
    y[mod(pos,2),1] ^^= x[pos]*3
end
function s = columns(x)
    y = zeros(2,3)
    parallel_do(numel(x), x, y, column)
    s = sum(y.*[[1,2,3],[4,5,6]])
end
check("a column", columns, wave(5))

% unsupported programs, with the line of the error
function [] = attempt(name, k)
    try
        f = x -> k(x)
        print name, ": ", grad(f, [1.0,2.0])
    catch e
        print name, ": ", e
    end
end
function [] = __kernel__ two_ways(x : vec, y : vec'unchecked, pos : int)
    y[0] ^^= x[pos]
    y[1] += x[pos]
end
function [] = __kernel__ power(x : vec, y : vec'unchecked, pos : int)
    y[0] ^= x[pos]
end
function [] = __kernel__ in_block(x : vec, y : vec, pos : int, blkpos : int)
    s = shared(1)
    if blkpos == 0
        s[0] = 0
    end
    syncthreads
    s[0] ^^= x[pos]
    syncthreads
    y[pos] = s[0]
end
function s = run(k, x)
    y = ones(2)
    parallel_do(2, x, y, k)
    s = sum(y)
end
attempt("two ways", x -> run(two_ways, x))
attempt("a power", x -> run(power, x))
attempt("shared memory", x -> run(in_block, x))
