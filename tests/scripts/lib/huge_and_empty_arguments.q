% Sizes that overflow, huge arrays without elements and clean-up after errors.
% options: --no-warnings
import "boxfilter.q"
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
attempt("triu", () -> size(triu(zeros(2^62,0))))
attempt("tril", () -> size(tril(zeros(2^62,0), -1)))
attempt("montage", () -> montage(zeros(2,0,2^61)))
attempt("vertcat", () -> vertcat(zeros(2^62,0), zeros(2^62,0)))
attempt("horzcat", () -> horzcat(zeros(0,2^62), zeros(0,2^62)))
attempt("zeros", () -> zeros(2^62,0,2^62))
attempt("zeros", () -> zeros(0,2^32,2^32))
attempt("cell", () -> cell(2^62,0,2^62))
attempt("reshape", () -> reshape([],[2^62,0,2^62]))
attempt("boxfilter", () -> boxfilter([[1,2],[3,4]], 2^31-1))
attempt("boxfilter", () -> size(boxfilter(zeros(0,3), 1)))
attempt("parallel_do", () -> parallel_do(4, cell(0), (() -> 1)))
x = linspace(0,1,3)
print x
attempt("cell", () -> cell([2^62,0]))
attempt("sprintf", () -> sprintf("%d %5.2f %s", zeros(2^62,0), zeros(3,0), cell(2^62,0)))
