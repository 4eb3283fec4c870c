% Sizes that overflow, huge arrays without elements and clean-up after errors.
% options: --no-warnings
function [] = attempt(name, f)
    try
        print name, " ", f()
    catch e
        print e
    end
end
attempt("linspace", () -> linspace(0,1,2^61))
attempt("bincount", () -> bincount(float64([5]),2^61))
attempt("quiver", () -> quiver([1,2],[1,2,3],[1,2],[1,2]))
attempt("quiver", () -> quiver([1,2],[1,2],[1,2],[1,2,3]))
attempt("errorbar", () -> errorbar([1,2],[1,2,3],[1,2]))
attempt("scatter", () -> scatter([1,2],[1,2],[-1,2]))
attempt("contour", () -> contour(ones(3,3),-1))
attempt("cumsum", () -> size(cumsum(zeros(2^62,0),1)))
attempt("cumprod", () -> size(cumprod(zeros(0,2^61),0)))
attempt("diff", () -> size(diff(zeros(2^62,0),1)))
attempt("sort", () -> size(sort(zeros(2^62,0),1)))
attempt("plus", () -> size(zeros(0,2^61)+1))
attempt("prod", () -> prod(zeros(0,2^61),0))
attempt("sum", () -> sum(zeros(2^62,0),0))
x = linspace(0,1,3)
print x
