import "race.q"

function s = value(x)
    s = sum(exp(-x.*x).*sin(3*x) + 2*x./(1 + x.*x))
end

function [] = main()
    x = pattern(4194304, 37, 1021)
    race(() -> value(x), () -> grad(value, x))
end
