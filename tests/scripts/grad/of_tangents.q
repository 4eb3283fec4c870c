% options: --precision 64
% tolerance: 1e-5
% devices: ref cpu
% Tangents of loops; derivatives of tangents up to the third order.
import "check.q"
function s = shrinks(x)
    s = 0*x[0]
    for i = 0..numel(x)-1
        t = x[i]
        while abs(t) > 0.1
            t = 0.5*t + 0.01*sin(t)
        end
        s += t^2*x[i]
    end
end
function s = turns(x)
    z = complex(x[0], 0.5)
    s = 0.0
    for i = 1..40
        z = z*z*0.3 + complex(x[1]*i/40, 0.2)
        s += abs(z)*x[2]
    end
end
function s = stops(x)
    s = 0*x[0]
    for i = 0..1000000
        s += sin(x[mod(i,numel(x))])*x[1]
        if i > 30
            break
        end
    end
end
function s = over(x)
    for i = 0..numel(x)-2
        x[i+1] = x[i]*x[i+1]
    end
    s = sum(x)
end
tangent = z -> ([y, t] = jvp(shrinks, z, z.^2); t)
check("of a tangent", tangent, image(1,3))
check("of hvp", z -> sum(hvp(shrinks, z, z.^2).^2), image(1,3))
twice("complex", turns, wave(3))
twice("a break", stops, wave(5))
twice("overwritten", x -> over(copy(x)), wave(5))
