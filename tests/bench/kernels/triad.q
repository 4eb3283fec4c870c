% An array expression; each call makes a new array.
import "measure.q"

function [] = main()
    n = 8388608
    b = pattern(n, 37, 1021)
    c = pattern(n, 53, 1019)
    measure(() -> b + 3*c)
end
