% options: --precision 64
% tolerance: 1e-5
% Gradients of loops that carry an index: the backward pass subtracts exactly the increment of each iteration.
import "check.q"

% an index that is known when the kernel runs
function n = __device__ begin(pos : int)
    n = pos
    for k = 0..3
        if mod(k,2) == 0
            n = k + pos
        end
    end
end

function [] = __kernel__ total(x : vec'circular, y : vec, turns : int, pos : int)
    n = begin(pos)
    m = n
    s = x[pos]
    for k = 0..turns-1
        s = 0.6*s*x[n] + x[n+m]
        n += k
    end
    y[pos] = s*x[n]
end

% the increment was read before the loop
function [] = __kernel__ from_copy(x : vec'circular, y : vec, turns : int, pos : int)
    n = begin(pos)
    m = n
    s = x[pos]
    for k = 0..turns-1
        s = 0.6*s*x[n] + x[n+1]*k
        n = m + mod(k, 5)
    end
    y[pos] = s*x[n]
end
function [] = __kernel__ one_more(x : vec'circular, y : vec, turns : int, pos : int)
    n = begin(pos)
    m = n
    s = x[pos]
    for k = 0..turns-1
        s = 0.6*s*x[n] + x[n+1]
        n = m + 1
    end
    y[pos] = s*x[n]
end
function [] = __kernel__ one_less(x : vec'circular, y : vec, turns : int, pos : int)
    n = begin(pos)
    m = n
    s = x[pos]
    k = 0
    while k < turns
        s = 0.6*s*x[n] + x[n+1]
        n = m - 1
        k += 1
    end
    y[pos] = s*x[n]
end
function [] = __kernel__ both(x : vec'circular, y : vec, turns : int, pos : int)
    n = begin(pos)
    m = n
    s = x[pos]
    for k = 0..turns-1
        s = 0.6*s*x[n] + x[n+1]
        n = m + n
    end
    y[pos] = s*x[mod(n, 7)]
end

% in an iteration of the enclosing loop
function [] = __kernel__ nested(x : vec'circular, y : vec, turns : int, pos : int)
    n = begin(pos)
    s = x[pos]
    for a = 0..2
        m = n
        for k = 0..turns-1
            s = 0.6*s*x[n] + x[n+a]
            n = m + mod(k, 4)
        end
    end
    y[pos] = s*x[n]
end

% in this iteration, but the variable is set in between
function [] = __kernel__ between(x : vec'circular, y : vec, turns : int, pos : int)
    n = begin(pos)
    s = x[pos]
    for k = 0..turns-1
        m = n
        s = 0.6*s*x[n] + x[n+1]
        n = mod(k, 3)
        s += 0.1*x[n]
        n = m + k
    end
    y[pos] = s*x[mod(n, 7)]
end

% in some of the iterations
function [] = __kernel__ sometimes(x : vec'circular, y : vec, turns : int, pos : int)
    n = begin(pos)
    s = x[pos]
    for k = 0..turns-1
        s = 0.6*s*x[n] + x[n+1]
        if mod(k, 3) == 1
            continue
        end
        n += k
        if k == 290 - pos
            break
        end
    end
    y[pos] = s*x[mod(n, 7)]
end

function s = after(kernel, x, turns)
    y = zeros(4)
    parallel_do(4, x, y, turns, kernel)
    s = sum(y.*weights(size(y)))
end
function [] = test(name, kernel)
    for turns = [1,4,80,300]
        check(sprintf("%s, %d turns", name, turns), x -> after(kernel, x, turns), 0.8*wave(7))
    end
end
test("a sum", total)
test("a copy and the counter", from_copy)
test("a copy and one", one_more)
test("a copy less one, while", one_less)
test("a copy and the variable", both)
test("a copy of the turn around", nested)
test("another value in between", between)
test("in some turns", sometimes)
