% interp1 guesses the interval of evenly spaced positions: rounding at their ends must not matter. The positions behind are
% spaced unevenly, so that the same values are found by bisection.
function [] = compare(what, x)
    v = float64(rand(numel(x) + 1))
    at = horzcat(x, x*(1 + eps), x*(1 - eps), x[0] + (x[numel(x)-1] - x[0])*float64(rand(500)))
    at = at[at >= x[0] && at <= x[numel(x)-1]]
    uneven = horzcat(x, x[numel(x)-1] + 100*(x[numel(x)-1] - x[0]))
    for method = {"linear", "nearest", "previous", "next"}
        print what, " ", method, ": ", isequal(interp1(x, v[0..numel(x)-1], at, method), interp1(uneven, v, at, method))
    end
end
compare("tenths", float64(0..100)/10)
compare("thirds", float64(0..3000)/3 - 50)
compare("sums", cumsum(float64(ones(1,700))*0.1))
compare("nearly even", float64(0..99) + 0.4*float64(rand(100)))
