import "measure.q"

function [] = main()
    n = 8388608
    x = pattern(n, 37, 1021)
    y = pattern(n, 53, 1019)
    measure(() -> [sum(x.*y)])
end
