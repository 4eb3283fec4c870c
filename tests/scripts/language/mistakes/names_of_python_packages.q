% Unknown names of functions of Python's packages are reported with the module that has them.
function [] = attempt(program)
    try
        eval(program)
    catch e
        print e
    end
end
attempt("y = threshold_li(x)")
attempt("y = einsum(x)")
attempt("y = random_walker(x)")
attempt("y = lombscargle(x)")
% functions with a counterpart here
attempt("y = clip(x, 0, 1)")
attempt("y = arctan2(y, x)")
attempt("y = maximum(x, y)")
attempt("y = white_tophat(x, y)")
attempt("y = cart2pol(x, y)")
