% Transcendental functions in one array expression.
import "measure.q"

function [] = main()
    x = 6*pattern(4194304, 37, 1021) - 3
    measure(() -> exp(-x.*x).*sin(x))
end
