% options: --precision 64
% tolerance: 1e-5
% Gradients of kernels: each difficult case by name.
import "check.q"

% -- reads and writes
function [] = __kernel__ scale(x : vec, y : vec, a : scalar, pos : int)
    y[pos] = a*x[pos]^2 + 1
end
function s = scaled(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, 3, scale)
    s = sum(y.*weights(size(y)))
end
check("elements", scaled, wave(9))

function s = by_number(a)
    y = zeros(5)
    parallel_do(5, wave(5), y, a, scale)
    s = sum(y)
end
x = wave(5)
printf("a number: %.6g, %.6g", grad(by_number, 2), sum(x.^2))

function [] = __kernel__ gather(x : vec, i : vec, j : vec, y : vec, pos : int)
    y[pos] = x[i[j[pos]]]^2
end
function s = gathered(x)
    y = zeros(6)
    parallel_do(6, x, [4,1,1,0], [0,1,2,3,1,0], y, gather)
    s = sum(y.*weights(size(y)))
end
check("gather of a gather", gathered, wave(5))

function [] = __kernel__ scatter(x : vec, y : vec'unchecked, pos : int)
    y[int(pos/2)] += x[pos]^2
end
function s = scattered(x)
    y = ones(4)
    parallel_do(8, x, y, scatter)
    s = sum(y.^2)
end
check("atomic sums", scattered, wave(8))

function [] = __kernel__ twice(x : vec, y : vec, pos : int)
    y[pos] = x[pos]^2
    y[pos] = y[pos]*x[pos]
    y[pos] = y[pos] + sin(y[pos])
end
function s = written_twice(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, twice)
    s = sum(y)
end
check("the same element written thrice", written_twice, wave(6))

function [] = __kernel__ in_place(x : vec, pos : int)
    x[pos] = x[pos]^2 + sin(x[pos])
end
function s = over_itself(x)
    y = copy(x)
    parallel_do(size(y), y, in_place)
    parallel_do(size(y), y, in_place)
    s = sum(y.*weights(size(y)))
end
check("an array that is read and overwritten", over_itself, wave(6))

function [] = __kernel__ shift(y : vec, pos : int)
    if pos > 0
        y[pos] = y[pos]*y[pos-1]
    end
end
function s = in_order(x)
    y = copy(x)
    serial_do(size(y), y, shift)
    s = sum(y.*weights(size(y)))
end
check("serial_do over its own results", in_order, wave(7))

% -- control
function [] = __kernel__ after(x : vec, y : vec, n : int, pos : int)
    p = x[pos]
    for k = 1..n
        p = p*x[mod(pos+k, numel(x))] + 0.1*k
    end
    y[pos] = p*p
end
function s = after_loop(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, 4, after)
    s = sum(y.*weights(size(y)))
end
check("a variable set before a loop and used after it", after_loop, wave(6))

function [] = __kernel__ nested(x : vec, y : vec, n : int, pos : int)
    t = 0.0
    for a = 0..n-1
        u = x[pos]
        for b = 0..mod(a+pos,3)
            u = u*x[b] + sin(u)
        end
        v = u*t
        for b = 0..a
            t += 0.1*v*x[a] + u*u
        end
        t = 0.5*t
    end
    y[pos] = t
end
function s = nest(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, numel(x), nested)
    s = sum(y)
end
check("nested loops, statements between them", nest, wave(5))

function [] = __kernel__ most(x : vec, y : vec, n : int, pos : int)
    best = -1e9
    at = 0
    for k = 0..n-1
        if x[k] < 0
            continue
        end
        if x[k]*cos(pos) <= best
            continue
        end
        best = x[k]*cos(pos)
        at = k
        if best > 1.2
            break
        end
    end
    y[pos] = best*x[at]
end
function s = argmax(x)
    y = zeros(4)
    parallel_do(4, x, y, numel(x), most)
    s = sum(y.*weights(size(y)))
end
check("continue and break in an argmax", argmax, wave(9))

function [] = __kernel__ newton(x : vec, y : vec, pos : int)
    a = abs(x[pos]) + 1
    r = a
    while abs(r*r - a) > 1e-13*a
        r = 0.5*(r + a/r)
    end
    y[pos] = r
end
function s = roots(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, newton)
    s = sum(y.*weights(size(y)))
end
check("while until it converges", roots, wave(6))

function [] = __kernel__ logistic(x : vec, y : vec, n : int, pos : int)
    p = 0.5 + 0.1*x[pos]
    for k = 1..n
        p = 2.4*p*(1 - p) + 0.01*x[pos]
    end
    y[pos] = 100*p
end
function s = turns(x, n)
    y = zeros(size(x))
    parallel_do(size(x), x, y, n, logistic)
    s = sum(y.*weights(size(y)))
end
check("500 turns", x -> turns(x, 500), wave(4))
check("10000 turns", x -> turns(x, 10000), wave(4))

function [] = __kernel__ local_array(x : vec, y : vec, pos : int)
    t = vec(5)
    for k = 0..4
        t[k] = x[mod(pos+k,5)]^2
    end
    for k = 1..4
        t[k] = t[k]*t[k-1]
    end
    y[pos] = t[4] + t[2]
end
function s = locals(x)
    y = zeros(5)
    parallel_do(5, x, y, local_array)
    s = sum(y.*weights(size(y)))
end
check("local arrays", locals, wave(5))

% -- small values
function [] = __kernel__ rotate(x : mat, y : mat, r : mat2x2, o : vec2, pos : int)
    y[0,pos] = r[0,0]*x[0,pos] + r[0,1]*x[1,pos] + o[0]
    y[1,pos] = r[1,0]*x[0,pos] + r[1,1]*x[1,pos] + o[1]^2
end
function s = rotated(r)
    y = zeros(2,6)
    parallel_do(6, image(2,6), y, r, [0.5,0.25], rotate)
    s = sum(y.^2)
end
check("a matrix by value", rotated, image(2,2))
function s = moved(o)
    y = zeros(2,6)
    parallel_do(6, image(2,6), y, image(2,2), o, rotate)
    s = sum(y.^2)
end
check("a vector by value", moved, [0.3,-0.4])

type lens : class
    focus : scalar
    centre : vec
end
function [] = __kernel__ refract(x : vec, l : lens, y : vec, pos : int)
    y[pos] = x[pos]*l.focus + l.centre[pos]^2
end
function s = seen(f)
    l = lens(focus:=f, centre:=wave(4)*f)
    y = zeros(4)
    parallel_do(4, wave(4), l, y, refract)
    s = sum(y.^2)
end
h = 1e-6
printf("fields of an object: %.5g", grad(seen, 1.5) - (seen(1.5+h) - seen(1.5-h))/(2*h) + 1)

% iteration counts known only at launch, for more positions than a vector has
function [] = __kernel__ marching(x : mat, y : mat, n : int, pos : ivec2)
    v = x[pos]
    w = 0.5
    for k = 0..n-1
        u = v
        v += 0.01*(w - v*v*v)
        for m = 0..mod(k,3)
            w += 0.01*(x[pos] - w*u*u)*(m + 1)
        end
    end
    y[pos] = v*w + v
end
function s = marched(x, n)
    y = zeros(size(x))
    parallel_do(size(x), x, y, n, marching)
    s = sum(y.*weights(size(y)))
end
check("300 turns in a kernel, 37 positions", x -> marched(x, 300), image(1,37))
check("no turns", x -> marched(x, 0), image(1,33))
check("one turn", x -> marched(x, 1), image(2,35))

% read, written, read and written again: the backward pass starts from the original values
function [] = __kernel__ rewrites(x : vec, y : vec, pos : int)
    y[pos] = y[pos]*x[pos]
    y[pos] = y[pos]*sin(y[pos])*x[pos]
end
function s = rewritten(x)
    y = x.*x + 1
    parallel_do(numel(x), x, y, rewrites)
    s = sum(y.*weights(size(y)))
end
check("written twice", rewritten, wave(6))
check("written twice, of the gradient", x -> sum(grad(rewritten, x).^2), wave(6))

% a launch larger than its arrays, whose kernel tests its positions: no access beyond the adjoints
function [] = __kernel__ tested(x : mat'unchecked, w : mat'unchecked, y : mat'unchecked, n : int, pos : ivec2)
    if pos[0] < size(y,0) && pos[1] < n
        y[pos] = 0.5*y[pos] + x[pos]^2
        for k = 0..pos[1]
            y[pos] += k*w[pos]^3
        end
    end
end
function [] = __kernel__ left_early(x : vec'unchecked, y : vec'unchecked, n : int, pos : int)
    if pos >= n
        return
    end
    y[pos] = sin(x[pos])*y[pos]
end
function s = larger(x)
    y = copy(x)
    parallel_do([8,16], x, x, y, size(x,1), tested)
    z = y[0,:]
    parallel_do(16, y[1,:], z, size(x,1), left_early)
    s = sum(y.*weights(size(y))) + sum(z.*weights(size(z)))
end
check("a launch larger than its arrays", larger, image(2,3))
