% part
% Derivatives of complex functions on the axes, where the sign of a zero selects the side of a branch cut: along the
% axis they equal the differences, across it i times as much, and in reverse mode the conjugate.
places = [2,-2,0.5,-0.5,1,-1]
zero = zeros(6)*1
z = complex(cat(1, places, places, zero, -zero), cat(1, zero, -zero, places, places))
h = 1e-5
ones6 = zeros(6) + h
ahead = complex(cat(1, ones6, ones6, zero, -zero), cat(1, zero, -zero, ones6, ones6))  % zeros of the same signs
behind = complex(cat(1, -ones6, -ones6, zero, -zero), cat(1, zero, -zero, -ones6, -ones6))

function far = distance(a, b, known)
    far = max(where(known, abs(a - b)./(1 + abs(b)), 0))
end
differences = f -> (f(z + ahead) - f(z + behind))./(2*ahead)
function dy = slope(f, z)
    [y, dy] = jvp(f, {z}, {0*z + 1})
end
function [] = tell(name, what, far, d)
    if !(far < 1e-7)
        print name, " ", what, ": differs by ", far, ", derivatives ", d
    end
end
function [] = check(name, f)
    d = slope(f, z)
    [y, across] = jvp(f, {z}, {0*z + 1i})
    [y, pull] = vjp(f, z)
    known = abs(d) < 1e3
    tell(name, "along the axis", distance(d, differences(f), known), d)
    tell(name, "across it", distance(across, 1i*d, known), d)
    tell(name, "backward", distance(pull(0*y + 1), conj(d), known), d)
    if sum(known) < 12
        print name, ": only ", sum(known), " places have a derivative"
    end
end
function [] = check_twice(name, f)
    check(name, f)
    check(name + ", its derivative,", x -> slope(f, x))
end
