import "race.q"

function s = value(a, b)
    c = a*b
    s = mean(c.*c)
end

function [] = main()
    n = 512
    a = reshape(pattern(n*n, 37, 1021), [n,n])
    b = reshape(pattern(n*n, 53, 1019), [n,n])
    race(() -> value(a, b), () -> grad(a -> value(a, b), a))
end
