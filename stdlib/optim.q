% Module: optim.q
% Zeros, minima, least squares and integrals of functions, in float64. A function is given by name or as x -> ….
import "check.q"

% Calls f, and checks that it gives one real number.
function y = optim_number(what, f, x)
    y = value_of(f(x))
    assert(check_real(y) && numel(y) == 1, what, " must give one real number, got ", check_got(y))
    y = sum(y)
end

% Function: fzero
% A zero of a function of one number, by the method of Brent: Algorithms for minimization without derivatives (1973).
%
% Parameters:
% f - the function
% x0 - [a, b] between which f changes its sign; or a number near which such an interval is looked for
% tol - how far the result may be from a zero
%
% Returns:
% x - the zero
% fval - f(x)
% count - how often f was called
function [x, fval, count] = fzero(f, x0, tol : scalar = 1e-14)
    assert(check_real(x0) && (numel(x0) == 1 || numel(x0) == 2) && all(isfinite(x0)), _
           "fzero: x0 must be a number or [a, b], got ", check_got(x0))
    check_least("fzero: tol", tol, 0)
    if numel(x0) == 2
        a = x0[0]
        b = x0[1]
        fa = optim_number("fzero: f", f, a)
        fb = optim_number("fzero: f", f, b)
        count = 2
        assert(fa*fb <= 0, "fzero: f must have two signs at x0, got ", fa, " and ", fb)
    else
        a = sum(x0)
        fa = optim_number("fzero: f", f, a)
        b = a
        fb = fa
        count = 1
        step = a != 0 ? abs(a)/50 : 1/50
        middle = a
        while fa*fb > 0
            a = middle - step
            fa = optim_number("fzero: f", f, a)
            if fa*fb > 0
                b = middle + step
                fb = optim_number("fzero: f", f, b)
            endif
            count += 2
            step = step*sqrt(2)
            assert(step < 1e300 && !isnan(fa) && !isnan(fb), "fzero: f has no change of sign around x0, got x0 ", x0)
        end
    endif
    c = a
    fc = fa
    d = b - a
    e = d
    going = 1
    while going > 0
        if fb*fc > 0
            c = a
            fc = fa
            d = b - a
            e = d
        endif
        if abs(fc) < abs(fb)
            a = b
            b = c
            c = a
            fa = fb
            fb = fc
            fc = fa
        endif
        near = 2*eps*abs(b) + tol/2
        half = (c - b)/2
        if abs(half) <= near || fb == 0 || count > 10000
            going = 0
        else
            if abs(e) < near || abs(fa) <= abs(fb)
                d = half
                e = half
            else
                s = fb/fa
                if a == c
                    p = 2*half*s
                    q = 1 - s
                else
                    q = fa/fc
                    r = fb/fc
                    p = s*(2*half*q*(q - r) - (b - a)*(r - 1))
                    q = (q - 1)*(r - 1)*(s - 1)
                endif
                q = p > 0 ? -q : q
                p = abs(p)
                if 2*p < min(3*half*q - abs(near*q), abs(e*q))
                    e = d
                    d = p/q
                else
                    d = half
                    e = half
                endif
            endif
            a = b
            fa = fb
            b = b + (abs(d) > near ? d : half > 0 ? near : -near)
            fb = optim_number("fzero: f", f, b)
            count += 1
        endif
    end
    x = b
    fval = fb
end

% Function: fminbnd
% A local minimum of a function of one number between a and b, by golden sections and parabolas (Brent, 1973).
%
% Parameters:
% f - the function
% a, b - the ends of the interval
% tol - how near the result is to the minimum
function [x, fval, count] = fminbnd(f, a : scalar, b : scalar, tol : scalar = 1e-8)
    assert(a <= b && isfinite(a) && isfinite(b), "fminbnd: a must not be greater than b, got ", a, " and ", b)
    check_least("fminbnd: tol", tol, 0)
    golden = (3 - sqrt(5))/2
    x = a + golden*(b - a)
    w = x
    v = x
    fval = optim_number("fminbnd: f", f, x)
    fw = fval
    fv = fval
    count = 1
    d = 0
    e = 0
    going = 1
    while going > 0
        middle = (a + b)/2
        near = sqrt(eps)*abs(x) + tol/3
        if abs(x - middle) <= 2*near - (b - a)/2 || count > 10000
            going = 0
        else
            section = 1
            if abs(e) > near
                r = (x - w)*(fval - fv)
                q = (x - v)*(fval - fw)
                p = (x - v)*q - (x - w)*r
                q = 2*(q - r)
                p = q > 0 ? -p : p
                q = abs(q)
                before = e
                e = d
                if abs(p) < abs(q*before/2) && p > q*(a - x) && p < q*(b - x)
                    section = 0
                    d = p/q
                    u = x + d
                    if u - a < 2*near || b - u < 2*near
                        d = x < middle ? near : -near
                    endif
                endif
            endif
            if section > 0
                e = x < middle ? b - x : a - x
                d = golden*e
            endif
            u = x + (abs(d) >= near ? d : d > 0 ? near : -near)
            fu = optim_number("fminbnd: f", f, u)
            count += 1
            if fu <= fval
                if u < x
                    b = x
                else
                    a = x
                endif
                v = w
                fv = fw
                w = x
                fw = fval
                x = u
                fval = fu
            else
                if u < x
                    a = u
                else
                    b = u
                endif
                if fu <= fw || w == x
                    v = w
                    fv = fw
                    w = u
                    fw = fu
                elseif fu <= fv || v == x || v == w
                    v = u
                    fv = fu
                endif
            endif
        endif
    end
end

% Function: fminsearch
% A local minimum of a function of a vec, without derivatives, by the simplexes of Nelder and Mead: A simplex method for
% function minimization (1965); the steps of scipy.optimize.minimize(method="Nelder-Mead").
%
% Parameters:
% f - a function of a vec[float64], which gives a number
% x0 - where the search begins, a vec or a number; for one number, f gets a vec of one element: write sum(x.^2) or x[0]^2
% tolx, tolf - it ends when all corners of the simplex are that near to the best one, and all values
% maxiter - the largest number of steps; null is 200 per element
%
% Returns:
% x - the minimum, a vec[float64]
% fval - f(x)
% steps - the number of steps
function [x, fval, steps] = fminsearch(f, x0, tolx : scalar = 1e-4, tolf : scalar = 1e-4, maxiter = null)
    assert(check_real(x0) && numel(x0) > 0 && all(isfinite(x0)), "fminsearch: x0 must have finite elements, got ", check_got(x0))
    start = float64_vec(x0)
    n = numel(start)
    most = isnull(maxiter) ? 200*n : maxiter
    S = repmat(start, [n+1,1])
    for k = 0..n-1
        S[k+1,k] = start[k] != 0 ? 1.05*start[k] : 0.00025
    end
    values = float64(zeros(n+1))
    for k = 0..n
        values[k] = optim_number("fminsearch: f", f, S[k,:])
    end
    [values, order] = sort(values)
    S = S[order,:]
    steps = 0
    while steps < most && (max(abs(S[1..n,:] - S[0,:])) > tolx || max(abs(values[1..n] - values[0])) > tolf)
        steps += 1
        middle = float64_vec(mean(S[0..n-1,:], 0))
        worst = S[n,:]
        point = 2*middle - worst
        v = optim_number("fminsearch: f", f, point)
        shrink = 0
        if v < values[0]
            further = 3*middle - 2*worst
            fv = optim_number("fminsearch: f", f, further)
            if fv < v
                point = further
                v = fv
            endif
        elseif v >= values[n-1]
            inside = v < values[n] ? 1.5*middle - 0.5*worst : 0.5*middle + 0.5*worst
            fv = optim_number("fminsearch: f", f, inside)
            shrink = v < values[n] ? fv > v : fv >= values[n]
            point = inside
            v = fv
        endif
        if shrink
            for k = 1..n
                S[k,:] = S[0,:] + 0.5*(S[k,:] - S[0,:])
                values[k] = optim_number("fminsearch: f", f, S[k,:])
            end
        else
            S[n,:] = point
            values[n] = v
        endif
        [values, order] = sort(values)
        S = S[order,:]
    end
    x = S[0,:]
    fval = values[0]
end

% The derivatives of the residuals r = f(x), a column per element of x, by central differences.
function J = lsq_jacobian(f, x, m)
    J = mat[float64](m, numel(x))
    for k = 0..numel(x)-1
        h = eps^(1/3)*max(abs(x[k]), 1)
        up = copy(x)
        up[k] = x[k] + h
        down = copy(x)
        down[k] = x[k] - h
        J[:,k] = reshape(float64(value_of(f(up)) - value_of(f(down)))/(up[k] - down[k]), [m,1])
    end
end

% Function: lsqnonlin
% The x for which the sum of the squares of f(x) is a local minimum, by Levenberg and Marquardt with the scaling of Moré: The
% Levenberg-Marquardt algorithm, implementation and theory (1978).
%
% Parameters:
% f - a function of a vec[float64], which gives an array of real residuals
% x0 - where the search begins
% tol - it ends when a step is that small, relative to x, or lowers the sum by less than that fraction
% maxiter - the largest number of steps
%
% Returns:
% x - the result, a vec[float64]
% resnorm - the sum of squares
% residual - f(x)
function [x, resnorm, residual] = lsqnonlin(f, x0, tol : scalar = 1e-10, maxiter : int = 400)
    [x, resnorm, residual] = lsq_minimum("lsqnonlin: x0", "lsqnonlin: f", f, x0, tol, maxiter)
end

% `start` and `function_` name x0 and f in error messages.
function [x, resnorm, residual] = lsq_minimum(start, function_, f, x0, tol, maxiter)
    assert(check_real(x0) && numel(x0) > 0 && all(isfinite(x0)), start, " must have finite elements, got ", check_got(x0))
    x = copy(float64_vec(x0))
    residual = value_of(f(x))
    assert(check_real(residual), function_, " must give real residuals, got ", check_got(residual))
    check_each(strcat(function_, " must give finite elements at the start"), residual, isfinite(residual))
    r = float64_vec(residual)
    m = numel(r)
    resnorm = sum(r.^2)
    damping = 1e-3
    scale = zeros_like(transpose(x))
    going = maxiter
    while going > 0
        going -= 1
        J = lsq_jacobian(f, x, m)
        A = transpose(J)*J
        g = transpose(J)*transpose(r)
        scale = max(scale, reshape(diag(A), [numel(x),1]))
        scale = scale > 0 ? scale : 1
        better = 0
        while better == 0 && going >= 0
            step = float64_vec(solve(A + damping*diagm(scale), 0-g))
            next = x + step
            value = value_of(f(next))
            s = float64_vec(value)
            sum2 = sum(s.^2)
            small = norm(step) <= tol*(norm(x) + tol)
            if sum2 < resnorm
                better = 1
                going = small || resnorm - sum2 <= tol*resnorm || sum2 == 0 ? 0 : going
                x = next
                r = s
                residual = value
                resnorm = sum2
                damping = max(damping/10, 1e-15)
            else
                damping = damping*10
                going = small || damping > 1e20 ? -1 : going
            endif
        end
    end
end

% Function: lsqcurvefit
% The parameters p for which f(p, xdata) is nearest to ydata in the sense of least squares; see lsqnonlin. curve_fit of SciPy
% has f(xdata, *p).
function [p, resnorm, residual] = lsqcurvefit(f, p0, xdata, ydata, tol : scalar = 1e-10, maxiter : int = 400)
    check_finite("lsqcurvefit: ydata", ydata)
    [p, resnorm, residual] = lsq_minimum("lsqcurvefit: p0", "lsqcurvefit: f", q -> lsq_difference(f(q, xdata), ydata), p0, tol, _
                                         maxiter)
end

function r = lsq_difference(y, ydata)
    y = value_of(y)
    assert(numel(y) == numel(ydata), "lsqcurvefit: f(p, xdata) must have as many elements as ydata, ", numel(ydata), ", got ", numel(y))
    r = reshape(y, size(ydata)) - ydata
end

% Function: lsqnonneg
% The x >= 0 for which norm(A*x - b) is smallest. Source: Lawson, Hanson: Solving least squares problems (1974), chapter 23;
% as scipy.optimize.nnls.
function [x, resnorm] = lsqnonneg(A : mat, b, maxiter = null)
    m = size(A,0)
    n = size(A,1)
    assert(check_real(b) && numel(b) == m, "lsqnonneg: b must have as many elements as A has rows, ", m, ", got ", numel(b))
    C = float64(A)
    d = reshape(float64(isscalar(b) ? [b] : b), [m,1])
    x = zeros_like(d, n, 1)
    free = zeros_like(float64([0]), n)
    w = transpose(C)*d
    tolerance = 10*eps*max(m, n)*max(sum(abs(C), 0))
    most = isnull(maxiter) ? 6*n : maxiter
    left = most
    while any(free == 0 && reshape(w, [1,n]) > tolerance)
        candidates = free == 0 ? reshape(w, [1,n]) : -inf
        free[find_index_max(candidates)] = 1
        inner = 1
        while inner > 0
            at = find(free > 0)[:,1]
            at = reshape(at, [1,numel(at)])
            z = solve(C[:,at], d)
            left -= 1
            assert(left >= 0, "lsqnonneg: no solution within maxiter steps, ", most)
            if all(z > 0)
                inner = 0
                x[:,:] = 0
                x[at,:] = z
            else
                now = x[at,:]
                ratio = z <= 0 ? now./max(now - z, 1e-300) : inf
                x[at,:] = now + min(ratio)*(z - now)
                free[reshape(x, [1,n]) <= tolerance*1e-3 && free > 0] = 0
                x[transpose(free) == 0] = 0
                inner = any(free > 0) ? 1 : 0
            endif
        end
        w = transpose(C)*(d - C*x)
    end
    resnorm = sum((C*x - d).^2)
end

% Function: quadgk, integral
% The integral of a function from a to b, by adaptive rules of Gauss and Kronrod with 7 and 15 points.
% Source: Shampine: Vectorized adaptive quadrature in MATLAB (2008).
%
% Parameters:
% f - a function of a vec[float64], which gives a value for each element, real or complex
% a, b - the limits, which may be -inf and inf
% abstol, reltol - the error is at most abstol, or reltol times the result
%
% Returns:
% q - the integral
% err - an estimate of its error
function [q, err] = quadgk(f, a : scalar, b : scalar, abstol : scalar = 1e-10, reltol : scalar = 1e-8)
    assert(!isnan(a) && !isnan(b), "quadgk: a and b must be numbers, got ", a, " and ", b)
    if a == b
        q = 0
        err = 0
        return
    elseif a > b
        [q, err] = quadgk(f, b, a, abstol, reltol)
        q = -q
        return
    endif
    % Powers of x at a limit become smooth, and infinite limits finite.
    g = t -> value_of(f((b - a)/4*t.*(3 - t.^2) + (b + a)/2)).*(0.75*(b - a)*(1 - t.^2))
    from = -1
    to = 1
    if a == -inf && b == inf
        g = t -> value_of(f(t./(1 - t.^2))).*((1 + t.^2)./(1 - t.^2).^2)
    elseif b == inf
        g = t -> value_of(f(a + (t./(1 - t)).^2)).*(2*t./(1 - t).^3)
        from = 0
    elseif a == -inf
        g = t -> value_of(f(b - (t./(1 - t)).^2)).*(2*t./(1 - t).^3)
        from = 0
    endif
    half = float64([0.991455371120812639206854697526329, 0.949107912342758524526189684047851, _
                    0.864864423359769072789712788640926, 0.741531185599394439863864773280788, _
                    0.586087235467691130294144691693013, 0.405845151377397166906606412076961, _
                    0.207784955007898467600689403773245, 0])
    weight = float64([0.022935322010529224963732008058970, 0.063092092629978553290700663189204, _
                      0.104790010322250183839876322541518, 0.140653259715525918745189590510238, _
                      0.169004726639267902826583426598550, 0.190350578064785409913256402421014, _
                      0.204432940075298892414161999234649, 0.209482141084727828012999174891714])
    gauss = float64([0, 0.129484966168869693270611432679082, 0, 0.279705391489276667901467771423780, _
                     0, 0.381830050505118944950369775488975, 0, 0.417959183673469387755102040816327])
    nodes = horzcat(0-half[0..6], half[7..-1..0])
    w = transpose(horzcat(weight, weight[6..-1..0]))
    e = w - transpose(horzcat(gauss, gauss[6..-1..0]))
    ends = float64(linspace(from, to, 11))
    left = reshape(ends[0..9], [10,1])
    right = reshape(ends[1..10], [10,1])
    q = 0
    err = 0
    rounds = 0
    while numel(left) > 0
        rounds += 1
        m = (left + right)/2
        h = (right - left)/2
        places = m + h*nodes
        values = g(reshape(places, numel(places)))
        assert(numel(values) == numel(places), "quadgk: f must give a value for each element of a vec, got ", numel(values), _
               " for ", numel(places))
        values = reshape(values, size(places))
        part = (values*w).*h
        errors = abs((values*e).*h)
        total = q + sum(part)
        allowed = max(abstol, reltol*abs(total))
        good = errors <= allowed*(abs(h)*2/(to - from))
        assert(rounds < 50 && numel(left) < 100000 && isfinite(abs(total)), _
               "quadgk: the integral does not converge, got about ", total, " with an error of ", err + sum(errors))
        if err + sum(errors) <= allowed
            good = good || true
        endif
        q = q + sum(part.*good)
        err = err + sum(errors.*good)
        bad = !good
        l = left[bad]
        r = right[bad]
        c = m[bad]
        left = reshape(horzcat(l, c), [2*numel(l),1])
        right = reshape(horzcat(c, r), [2*numel(l),1])
    end
end

function [q, err] = integral(f, a : scalar, b : scalar, abstol : scalar = 1e-10, reltol : scalar = 1e-8)
    [q, err] = quadgk(f, a, b, abstol, reltol)
end
