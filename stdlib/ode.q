% Module: ode.q
% Initial value problems y' = f(t, y), in float64.
import "optim.q"

% Function: ode45
% The solution of y' = f(t, y) by the pair of Dormand and Prince of orders 5 and 4 with steps that adapt to the error,
% and values between steps of order 4. For stiff problems see ode23s. Source: Dormand, Prince: A family of embedded
% Runge-Kutta formulae (1980); Shampine: Some practical Runge-Kutta formulas (1986); the steps of
% scipy.integrate.solve_ivp(method="RK45").
%
% Parameters:
% f - a function of a number t and a vec y, which gives a vec; write it as float64([…]), since a list in a script has
%     elements of float32, which limits the accuracy to 1e-7. If y0 is one number, y is a vec of one element: write y.^2,
%     not y^2. A function of Python may return a list or an array of NumPy
% tspan - [first, last], or several times at which y is wanted, ascending or descending
% y0 - y at the first time, a vec or a number
% reltol, abstol - an error of abstol + reltol*abs(y) is accepted in each step
% event - a function of t and y; where it changes its sign, the solution ends. null is none
% maxstep - the longest step
%
% Returns:
% t - the times: tspan, or the times of all steps if tspan has two elements
% y - a row for each time
% te, ye - time and solution at the event, or null
function [t, y, te, ye] = ode45(f, tspan : vec, y0, reltol : scalar = 1e-3, abstol : scalar = 1e-6, event = null, _
                                maxstep : scalar = inf)
    method = object(name := "ode45", order := 5, advance := ode_advance, prepare := (t, v) -> null, _
                    step := dormand_step, between := dormand_between)
    method.A = {float64([1/5]), float64([3/40, 9/40]), float64([44/45, -56/15, 32/9]), _
                float64([19372/6561, -25360/2187, 64448/6561, -212/729]), _
                float64([9017/3168, -355/33, 46732/5247, 49/176, -5103/18656])}
    method.B = float64([35/384, 0, 500/1113, 125/192, -2187/6784, 11/84])
    method.C = float64([1/5, 3/10, 4/5, 8/9, 1])
    method.E = float64([-71/57600, 0, 71/16695, -71/1920, 17253/339200, -22/525, 1/40])
    method.P = float64([[1, -8048581381/2820520608, 8663915743/2820520608, -12715105075/11282082432], _
                        [0, 0, 0, 0], _
                        [0, 131558114200/32700410799, -68118460800/10900136933, 87487479700/32700410799], _
                        [0, -1754552775/470086768, 14199869525/1410260304, -10690763975/1880347072], _
                        [0, 127303824393/49829197408, -318862633887/49829197408, 701980252875/199316789632], _
                        [0, -282668133/205662961, 2019193451/616988883, -1453857185/822651844], _
                        [0, 40617522/29380423, -110615467/29380423, 69997945/29380423]])
    [t, y, te, ye] = ode_solve(method, f, tspan, y0, reltol, abstol, event, maxstep)
end

% One step: the new solution, its slope, the error, and the slopes of the stages.
function [new, after, error_, K] = dormand_step(m, f, base, now, v, slope, step)
    K = zeros_like(v, 7, numel(v))
    A = m.A
    C = m.C
    K[0,:] = slope
    for s = 0..4
        K[s+1,:] = ode_slope(m, f, now + C[s]*step, v + step*(A[s]*K[0..s,:]))
    end
    new = v + step*(m.B*K[0..5,:])
    after = ode_slope(m, f, now + step, new)
    K[6,:] = after
    error_ = step*(m.E*K)
end

% The solution within a step, at the fraction x of it.
function y = dormand_between(m, old, K, step, x)
    y = old + step*transpose((transpose(K)*m.P)*float64([[x],[x^2],[x^3],[x^4]]))
end

% Function: ode23s
% The solution of a stiff problem y' = f(t, y), whose step ode45 must keep small for stability, by the Rosenbrock pair
% of orders 2 and 3, with values between steps of order 2. Source: Shampine, Reichelt: The MATLAB ODE suite (1997).
%
% Parameters:
% f, tspan, y0, reltol, abstol, event, maxstep - as for ode45
% J - the derivatives of f with respect to y: a matrix with a row for each element of f, or a function of t and y which
%     gives it; null differentiates f, by differences if f has no derivative, as a function of Python that uses NumPy
%
% Returns:
% t, y, te, ye - as for ode45
function [t, y, te, ye] = ode23s(f, tspan : vec, y0, reltol : scalar = 1e-3, abstol : scalar = 1e-6, event = null, _
                                 maxstep : scalar = inf, J = null)
    method = object(name := "ode23s", order := 3, advance := ode_advance, _
                    exact := true, step := rosenbrock_step, between := rosenbrock_between)
    method.prepare = (t, v) -> rosenbrock_slopes(method, f, J, t, v)
    [t, y, te, ye] = ode_solve(method, f, tspan, y0, reltol, abstol, event, maxstep)
end

% The derivatives of f with respect to t, as first column, and to y.
function D = rosenbrock_slopes(m, f, J, t, v)
    n = numel(v)
    z = float64_vec(horzcat(float64([t]), v))
    if isnull(J)
        D = ode_derivatives(m, z -> f(z[0], z[1..n]), z, n)
    else
        slope = ode_differences(z -> f(z[0], z[1..n]), z, n, 1)
        D = horzcat(slope, ode_jacobian(m, f, J, t, v))
    endif
end

% The derivatives of f with respect to y.
function D = ode_jacobian(m, f, J, t, v)
    n = numel(v)
    if isnull(J)
        D = ode_derivatives(m, z -> f(t, z), float64_vec(v), n)
    else
        D = is_given_function(J) ? value_of(J(t, float64_vec(v))) : J
        check_finite(strcat(m.name, ": J"), D)
        check_size(strcat(m.name, ": J"), D, [n,n])
        D = float64(D)
    endif
end

% The derivatives of the n results of f with respect to z, a column per element. After one failure to differentiate f,
% m.exact is false, and differences take its place.
function D = ode_derivatives(m, f, z, n)
    if m.exact
        try
            D = reshape(float64(jacobian(f, z)), [n,numel(z)])
            return
        catch e
            m.exact = false
        end
    endif
    D = ode_differences(f, z, n, numel(z))
end

% The same by differences, for the first `count` elements of z.
function D = ode_differences(f, z, n, count)
    D = mat[float64](n, count)
    here = float64_vec(value_of(f(z)))
    for k = 0..count-1
        there = copy(z)
        there[k] = z[k] + sqrt(eps)*max(abs(z[k]), 1e-5)
        D[:,k] = reshape((float64_vec(value_of(f(there))) - here)/(there[k] - z[k]), [n,1])
    end
end

function [new, after, error_, K] = rosenbrock_step(m, f, base, now, v, slope, step)
    n = numel(v)
    d = 1/(2 + sqrt(2))
    e = 6 + sqrt(2)
    W = transpose(inv(float64(eye(n)) - (step*d)*base[:,1..n]))
    drift = (step*d)*transpose(base[:,0])
    K = zeros_like(v, 2, n)
    k1 = (slope + drift)*W
    middle = ode_slope(m, f, now + step/2, v + (step/2)*k1)
    k2 = (middle - k1)*W + k1
    new = v + step*k2
    after = ode_slope(m, f, now + step, new)
    k3 = (after - e*(k2 - middle) - 2*(k1 - slope) + drift)*W
    error_ = (step/6)*(k1 - 2*k2 + k3)
    K[0,:] = k1
    K[1,:] = k2
end

function y = rosenbrock_between(m, old, K, step, x)
    d = 1/(2 + sqrt(2))
    y = old + (step/(1 - 2*d))*((x*(1-x))*K[0,:] + (x*(x - 2*d))*K[1,:])
end

% Function: ode15s
% The solution of a stiff problem y' = f(t, y) by numerical differentiation formulas of orders 1 to 5, whose order and
% step adapt to the error: for long intervals and high accuracy faster than ode23s. It keeps the derivatives of f until
% an iteration fails to converge. Source: Shampine, Reichelt: The MATLAB ODE suite (1997); the steps of
% scipy.integrate.solve_ivp(method="BDF").
%
% Parameters:
% f, tspan, y0, reltol, abstol, event, maxstep - as for ode45
% J - as for ode23s
% maxorder - the highest order, 1 to 5; with 2 it is stable for all problems whose solutions decay
%
% Returns:
% t, y, te, ye - as for ode45
function [t, y, te, ye] = ode15s(f, tspan : vec, y0, reltol : scalar = 1e-3, abstol : scalar = 1e-6, event = null, _
                                 maxstep : scalar = inf, J = null, maxorder = 5)
    check_whole("ode15s: maxorder", maxorder, 1)
    assert(maxorder <= 5, "ode15s: maxorder must be 1 to 5, got ", maxorder)
    method = object(name := "ode15s", order := 2, advance := ndf_advance, between := ndf_between, _
                    exact := true, D := null, slopes := null, W := null, k := 1, equal := 0, maxorder := maxorder)
    method.jacobian = (t, v) -> ode_jacobian(method, f, J, t, v)
    kappa = float64([0, -0.1850, -1/9, -0.0823, -0.0415, 0])
    sums = float64([0, 1, 1 + 1/2, 1 + 1/2 + 1/3, 1 + 1/2 + 1/3 + 1/4, 1 + 1/2 + 1/3 + 1/4 + 1/5])
    method.sums = sums
    method.alpha = (1 - kappa).*sums
    method.errors = kappa.*sums + 1/float64(1..6)
    [t, y, te, ye] = ode_solve(method, f, tspan, y0, reltol, abstol, event, maxstep)
end

% Changes the differences D of order k for a step that is `factor` times as long.
function D = ndf_scaled(D, k, factor)
    D = copy(D)
    D[0..k,:] = transpose(ndf_differences(k, factor)*ndf_differences(k, 1))*D[0..k,:]
end

function R = ndf_differences(k, factor)
    i = transpose(float64(0..k))
    R = (i - 1 - factor*float64(0..k))./max(i, 1)
    R[:,0] = 0
    R[0,:] = 1
    R = cumprod(R, 0)
end

% Solves the equation of a step by Newton's method with a fixed matrix W. Returns the solution, its difference from the
% prediction and the number of iterations; 0: they do not converge.
function [new, d, count] = ndf_newton(m, f, next, guess, c, psi, scale, tolerance)
    new = guess
    d = zeros_like(guess)
    count = 0
    before = 0
    k = 1
    while k <= 4
        change = (c*ode_slope(m, f, next, new) - psi - d)*m.W
        size_ = ode_norm(change./scale)
        rate = k == 1 ? 0 : size_/before
        if !(size_ < inf) || rate >= 1 || (k > 1 && rate^(5-k)/(1 - rate)*size_ > tolerance)
            return
        endif
        new = new + change
        d = d + change
        if size_ == 0 || (k > 1 && rate/(1 - rate)*size_ < tolerance)
            count = k
            return
        endif
        before = size_
        k += 1
    end
end

% Makes a step of the numerical differentiation formulas, as ode_advance; K is what ndf_between needs. m.D has the
% solution and its backward differences, for steps of the length that follows.
function [next, new, after, K, h] = ndf_advance(m, f, now, last, v, slope, h, reltol, abstol, maxstep)
    way = last > now ? 1 : -1
    smallest = 10*eps*max(abs(now), 1e-300)
    tolerance = max(10*eps/reltol, min(0.03, sqrt(reltol)))
    fresh = 0
    if isnull(m.D)
        D = zeros_like(v, 8, numel(v))
        D[0,:] = v
        D[1,:] = (way*h)*slope
        m.D = D
        m.slopes = m.jacobian(now, v)
        fresh = 1
    endif
    k = m.k
    wanted = max(min(h, maxstep), smallest)
    if wanted != h
        m.D = ndf_scaled(m.D, k, wanted/h)
        m.equal = 0
        m.W = null
        h = wanted
    endif
    accepted = 0
    while accepted == 0
        assert(h >= smallest && h > 0, m.name, ": the step became too small at t = ", now)
        next = now + way*h
        factor = 1
        if way*(next - last) > 0
            next = last
            factor = abs(next - now)/h
            m.D = ndf_scaled(m.D, k, factor)
            m.equal = 0
            m.W = null
        endif
        h = abs(next - now)
        D = m.D
        guess = sum(D[0..k,:], 0)
        scale = abstol + reltol*abs(guess)
        psi = (m.sums[1..k]*D[1..k,:])/m.alpha[k]
        c = way*h/m.alpha[k]
        count = 0
        tried = 0
        while count == 0 && tried == 0
            if isnull(m.W)
                m.W = transpose(inv(float64(eye(numel(v))) - c*m.slopes))
            endif
            [new, d, count] = ndf_newton(m, f, next, guess, c, psi, scale, tolerance)
            tried = fresh
            if count == 0 && fresh == 0
                m.slopes = m.jacobian(next, guess)
                m.W = null
                fresh = 1
            endif
        end
        factor = 0.5
        if count > 0
            safety = 0.9*9/(8 + count)
            scale = abstol + reltol*abs(new)
            error_ = ode_norm(m.errors[k]*d./scale)
            accepted = error_ <= 1 ? 1 : 0
            factor = max(0.2, safety*error_^(-1/(k + 1)))
        else
            m.W = null
        endif
        if accepted == 0
            h = h*factor
            m.D = ndf_scaled(D, k, factor)
            m.equal = 0
        endif
    end
    D = copy(m.D)
    D[k+2,:] = d - D[k+1,:]
    D[k+1,:] = d
    for i = k..-1..0
        D[i,:] = D[i,:] + D[i+1,:]
    end
    m.D = D
    m.equal = m.equal + 1
    after = null
    K = object(k := k, D := D, h := way*h, next := next)
    if m.equal > k
        below = k > 1 ? ode_norm(m.errors[k-1]*D[k,:]./scale) : inf
        above = k < m.maxorder ? ode_norm(m.errors[k+1]*D[k+2,:]./scale) : inf
        factors = [below^(-1/k), error_^(-1/(k + 1)), above^(-1/(k + 2))]
        best = find_index_max(factors)
        m.k = k + best - 1
        factor = min(10, safety*factors[best])
        h = h*factor
        m.D = ndf_scaled(D, m.k, factor)
        m.equal = 0
        m.W = null
    endif
end

% The solution within a step, at the fraction x of it, by the polynomial through the last solutions.
function y = ndf_between(m, old, K, step, x)
    at = (x - 1)*step
    steps = float64(0..K.k-1)
    p = cumprod((at + K.h*steps)./(K.h*(steps + 1)))
    y = K.D[0,:] + p*K.D[1..K.k,:]
end

% Checks the arguments of a solver; gives the times, the first solution and the tolerance.
function [times, v] = ode_arguments(what, tspan, y0, reltol, abstol, maxstep)
    times = float64(tspan)
    n = numel(times)
    steps = n > 1 ? diff(times) : times
    assert(n >= 2 && all(isfinite(times)) && (all(steps > 0) || all(steps < 0)), _
           what, ": tspan must be finite times, ascending or descending, got ", tspan)
    assert(reltol > 0 && abstol >= 0, _
           what, ": reltol must be greater than 0 and abstol at least 0, got ", reltol, " and ", abstol)
    assert(maxstep > 0, what, ": maxstep must be greater than 0, got ", maxstep)
    assert(check_real(y0) && numel(y0) > 0, what, ": y0 must be a real vec, got ", check_got(y0))
    v = float64_vec(y0)
end

% The first step, of Hairer, Norsett, Wanner: Solving ordinary differential equations I, section II.4.
function h = ode_first_step(m, f, now, last, v, slope, reltol, abstol, maxstep)
    scale = abstol + abs(v)*reltol
    way = last > now ? 1 : -1
    d0 = ode_norm(v./scale)
    d1 = ode_norm(slope./scale)
    h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01*d0/d1
    h = min(h, abs(last - now))
    d2 = ode_norm((ode_slope(m, f, now + way*h, v + (way*h)*slope) - slope)./scale)/h
    h1 = d1 <= 1e-15 && d2 <= 1e-15 ? max(1e-6, h*1e-3) : (0.01/max(d1, d2))^(1/m.order)
    h = min(min(100*h, h1), min(abs(last - now), maxstep))
end

% Makes a step that is accurate enough, of length h or shorter. Returns its end, the solution and slope there, the
% stages within it, and the length of the step that follows.
function [next, new, after, K, h] = ode_advance(m, f, now, last, v, slope, h, reltol, abstol, maxstep)
    way = last > now ? 1 : -1
    power = -1/m.order
    smallest = 10*eps*max(abs(now), 1e-300)
    h = min(max(h, smallest), maxstep)
    base = m.prepare(now, v)
    accepted = 0
    rejected = 0
    while accepted == 0
        assert(h >= smallest && h > 0, m.name, ": the step became too small at t = ", now)
        next = now + way*h
        if way*(next - last) > 0
            next = last
        endif
        h = abs(next - now)
        [new, after, difference, K] = m.step(m, f, base, now, v, slope, next - now)
        error_ = ode_norm(difference./(abstol + max(abs(v), abs(new))*reltol))
        assert(!isnan(error_), m.name, ": the solution is not a number at t = ", next)
        if error_ < 1
            factor = error_ == 0 ? 10 : min(10, 0.9*error_^power)
            h = h*(rejected > 0 ? min(1, factor) : factor)
            accepted = 1
        else
            h = h*max(0.2, 0.9*error_^power)
            rejected = 1
        endif
    end
end

% Solves a problem by the steps of a method.
function [t, y, te, ye] = ode_solve(m, f, tspan, y0, reltol, abstol, event, maxstep)
    [times, v] = ode_arguments(m.name, tspan, y0, reltol, abstol, maxstep)
    reltol = max(reltol, 100*eps)
    n = numel(times)
    now = times[0]
    last = times[n-1]
    way = last > now ? 1 : -1
    slope = ode_slope(m, f, now, v)
    h = ode_first_step(m, f, now, last, v, slope, reltol, abstol, maxstep)
    count = n > 2 ? n : 64
    t = zeros_like(v, count)
    y = zeros_like(v, count, numel(v))
    t[0] = now
    y[0,:] = v
    used = 1
    te = null
    ye = null
    before = isnull(event) ? 0 : ode_event(m, event, now, v)
    while way*(last - now) > 0
        start = now
        old = v
        [next, v, slope, K, h] = m.advance(m, f, start, last, old, slope, h, reltol, abstol, maxstep)
        at = s -> m.between(m, old, K, next - start, (s - start)/(next - start))
        now = next
        stop = next
        ends = 0
        if !isnull(event)
            value = ode_event(m, event, next, v)
            if before*value < 0 || value == 0
                te = value == 0 ? next : fzero(s -> ode_event(m, event, s, at(s)), [start, next], 1e-13)
                ye = float64_vec(at(te))
                stop = te
                now = last
                ends = 1
            endif
            before = value
        endif
        if n > 2
            while used < n && way*(times[used] - stop) <= 0
                t[used] = times[used]
                y[used,:] = at(times[used])
                used += 1
            end
        else
            if used == count
                t = horzcat(t, zeros_like(t))
                y = vertcat(y, zeros_like(y))
                count = 2*count
            endif
            t[used] = stop
            y[used,:] = ends > 0 ? ye : v
            used += 1
        endif
    end
    t = float64_vec(t[0..used-1])
    y = y[0..used-1,:]
end

function e = ode_event(m, event, t, y)
    e = optim_number(strcat(m.name, ": event"), z -> event(t, z), float64_vec(y))
end

function s = ode_slope(m, f, t, y)
    s = value_of(f(t, float64_vec(y)))
    assert(check_real(s) && numel(s) == numel(y), _
           m.name, ": f must give as many real numbers as y has, ", numel(y), ", got ", check_got(s))
    s = float64_vec(s)
end

function r = ode_norm(x)
    r = sqrt(mean(x.^2))
end
