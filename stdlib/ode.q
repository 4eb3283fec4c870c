% Module: ode.q
% Initial value problems y' = f(t, y), in float64.
import "optim.q"

% Function: ode45
% The solution of y' = f(t, y) by the pair of Dormand and Prince of orders 5 and 4 with steps that adapt to the error, and
% values between steps of order 4. Source: Dormand, Prince: A family of embedded Runge-Kutta formulae (1980); Shampine: Some
% practical Runge-Kutta formulas (1986); the steps of scipy.integrate.solve_ivp(method="RK45").
%
% Parameters:
% f - a function of a number t and a vec y, which gives a vec; write it as float64([…]), since a list has elements of
%     float32, which limits the accuracy to 1e-7. If y0 is one number, y is a vec of one element: write y.^2, not y^2
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
    times = float64(tspan)
    n = numel(times)
    steps = n > 1 ? diff(times) : times
    assert(n >= 2 && all(isfinite(times)) && (all(steps > 0) || all(steps < 0)), _
           "ode45: tspan must be finite times, ascending or descending, got ", tspan)
    assert(reltol > 0 && abstol >= 0, "ode45: reltol must be greater than 0 and abstol at least 0, got ", reltol, " and ", abstol)
    assert(maxstep > 0, "ode45: maxstep must be greater than 0, got ", maxstep)
    assert(check_real(y0) && numel(y0) > 0, "ode45: y0 must be a real vec, got ", check_got(y0))
    reltol = max(reltol, 100*eps)
    v = isscalar(y0) ? float64([y0]) : float64(reshape(y0, [1,numel(y0)]))
    A = {float64([1/5]), float64([3/40, 9/40]), float64([44/45, -56/15, 32/9]), _
         float64([19372/6561, -25360/2187, 64448/6561, -212/729]), _
         float64([9017/3168, -355/33, 46732/5247, 49/176, -5103/18656])}
    B = float64([35/384, 0, 500/1113, 125/192, -2187/6784, 11/84])
    C = float64([1/5, 3/10, 4/5, 8/9, 1])
    E = float64([-71/57600, 0, 71/16695, -71/1920, 17253/339200, -22/525, 1/40])
    P = float64([[1, -8048581381/2820520608, 8663915743/2820520608, -12715105075/11282082432], _
                 [0, 0, 0, 0], _
                 [0, 131558114200/32700410799, -68118460800/10900136933, 87487479700/32700410799], _
                 [0, -1754552775/470086768, 14199869525/1410260304, -10690763975/1880347072], _
                 [0, 127303824393/49829197408, -318862633887/49829197408, 701980252875/199316789632], _
                 [0, -282668133/205662961, 2019193451/616988883, -1453857185/822651844], _
                 [0, 40617522/29380423, -110615467/29380423, 69997945/29380423]])
    now = times[0]
    last = times[n-1]
    way = last > now ? 1 : -1
    slope = ode_slope(f, now, v)
    % The first step, of Hairer, Norsett, Wanner: Solving ordinary differential equations I, section II.4.
    scale = abstol + abs(v)*reltol
    d0 = ode_norm(v./scale)
    d1 = ode_norm(slope./scale)
    h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01*d0/d1
    h = min(h, abs(last - now))
    d2 = ode_norm((ode_slope(f, now + way*h, v + (way*h)*slope) - slope)./scale)/h
    h1 = d1 <= 1e-15 && d2 <= 1e-15 ? max(1e-6, h*1e-3) : (0.01/max(d1, d2))^(1/5)
    h = min(min(100*h, h1), min(abs(last - now), maxstep))
    count = n > 2 ? n : 64
    t = zeros_like(v, count)
    y = zeros_like(v, count, numel(v))
    t[0] = now
    y[0,:] = v
    used = 1
    te = null
    ye = null
    before = isnull(event) ? 0 : optim_number("ode45", z -> event(now, z), v)
    K = zeros_like(v, 7, numel(v))
    while way*(last - now) > 0
        smallest = 10*eps*max(abs(now), 1e-300)
        h = min(max(h, smallest), maxstep)
        accepted = 0
        rejected = 0
        while accepted == 0
            assert(h >= smallest && h > 0, "ode45: the step became too small at t = ", now)
            next = now + way*h
            if way*(next - last) > 0
                next = last
            endif
            step = next - now
            h = abs(step)
            K[0,:] = slope
            for s = 0..4
                K[s+1,:] = ode_slope(f, now + C[s]*step, v + step*(A[s]*K[0..s,:]))
            end
            new = v + step*(B*K[0..5,:])
            after = ode_slope(f, next, new)
            K[6,:] = after
            scale = abstol + max(abs(v), abs(new))*reltol
            error_ = ode_norm(step*(E*K)./scale)
            assert(!isnan(error_), "ode45: the solution is not a number at t = ", next)
            if error_ < 1
                factor = error_ == 0 ? 10 : min(10, 0.9*error_^(-1/5))
                h = h*(rejected > 0 ? min(1, factor) : factor)
                accepted = 1
            else
                h = h*max(0.2, 0.9*error_^(-1/5))
                rejected = 1
            endif
        end
        Q = transpose(K)*P
        start = now
        old = v
        stop = next
        ends = 0
        if !isnull(event)
            value = optim_number("ode45", z -> event(next, z), new)
            if before*value < 0 || value == 0
                te = value == 0 ? next : fzero(s -> event(s, ode_between(old, Q, start, step, s)), [start, next], 1e-13)
                ye = ode_between(old, Q, start, step, te)
                stop = te
                ends = 1
            endif
            before = value
        endif
        if n > 2
            while used < n && way*(times[used] - stop) <= 0
                t[used] = times[used]
                y[used,:] = ode_between(old, Q, start, step, times[used])
                used += 1
            end
        else
            if used == count
                t = horzcat(t, zeros_like(t))
                y = vertcat(y, zeros_like(y))
                count = 2*count
            endif
            t[used] = stop
            y[used,:] = ends > 0 ? ye : new
            used += 1
        endif
        now = ends > 0 ? last : next
        v = new
        slope = after
    end
    t = t[0..used-1]
    y = y[0..used-1,:]
end

function s = ode_slope(f, t, y)
    s = f(t, y)
    assert(check_real(s) && numel(s) == numel(y), "ode45: f must give as many real numbers as y has, ", numel(y), ", got ", check_got(s))
    s = isscalar(s) ? float64([s]) : float64(reshape(s, [1,numel(s)]))
end

function r = ode_norm(x)
    r = sqrt(mean(x.^2))
end

% The solution within a step.
function y = ode_between(old, Q, start, step, t)
    x = (t - start)/step
    y = old + step*transpose(Q*float64([[x],[x^2],[x^3],[x^4]]))
end
