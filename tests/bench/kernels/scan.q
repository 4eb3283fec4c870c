import "measure.q"

function [] = main()
    x = pattern(8388608, 37, 1021) - 0.5
    measure(() -> cumsum(x))
end
