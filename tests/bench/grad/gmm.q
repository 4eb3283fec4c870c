% ADBench's mixture of Gaussians: the log-likelihood of n points with K components, whose inverse covariances are given
% by triangular factors.  The gradient is to the means.
import "race.q"

% p[k,i]: the exponent of component k at point i
function [] = __kernel__ exponents(x : mat'unchecked, alpha : vec'unchecked, mu : mat'unchecked, q : mat'unchecked,
                                   l : mat'unchecked, p : mat'unchecked, d : int, pos : ivec2)
    k = pos[0]
    i = pos[1]
    total = 0.0
    logs = 0.0
    at = 0
    for a = 0..d-1
        s = exp(q[k,a])*(x[i,a] - mu[k,a])
        logs += q[k,a]
        for b = 0..a-1
            s += l[k,at+b]*(x[i,b] - mu[k,b])
        end
        at += a
        total += s*s
    end
    p[k,i] = alpha[k] + logs - 0.5*total
end

function [] = __kernel__ logsumexp(p : mat'unchecked, y : vec, n : int, pos : int)
    m = p[0,pos]
    for k = 1..n-1
        m = max(m, p[k,pos])
    end
    s = 0.0
    for k = 0..n-1
        s += exp(p[k,pos] - m)
    end
    y[pos] = log(s) + m
end

function s = value(x, alpha, mu, q, l)
    n = size(x,0)
    d = size(x,1)
    p = uninit(size(mu,0), n)
    y = uninit(n)
    parallel_do(size(p), x, alpha, mu, q, l, p, d, exponents)
    parallel_do(n, p, y, size(mu,0), logsumexp)
    prior = 0.5*(sum(exp(2*q)) + sum(l.*l)) - sum(q)
    s = (sum(y) - n*log(sum(exp(alpha))) - prior)/n
end

function [] = main()
    n = 10000
    d = 10
    count = 25
    x = reshape(pattern(n*d, 37, 1021), [n,d])
    alpha = pattern(count, 53, 1019)
    mu = reshape(pattern(count*d, 71, 1013), [count,d])
    q = reshape(pattern(count*d, 37, 1009), [count,d])
    l = reshape(pattern(count*d*(d-1)/2, 11, 1021), [count, d*(d-1)/2])
    race(() -> value(x, alpha, mu, q, l), () -> grad(mu -> value(x, alpha, mu, q, l), mu))
end
