import "measure.q"

function [] = main()
    x = pattern(16777216, 37, 1021)
    measure(() -> [sum(x)])
end
