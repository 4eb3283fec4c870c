% Sorts parts of x that a list of bounds names
import "../inputs.q"
function x = inputs(n)
    x = pattern(n, 37, 100003)
end
function x = quick_sort(x)
    x = copy(x)
    bounds = int(zeros(200))
    bounds[1] = numel(x) - 1
    top = 2
    while top > 0
        top -= 2
        lo = bounds[top]
        hi = bounds[top+1]
        if lo < hi
            pivot = x[floor((lo + hi)/2)]
            i = lo
            j = hi
            while i <= j
                while x[i] < pivot
                    i += 1
                end
                while x[j] > pivot
                    j -= 1
                end
                if i <= j
                    t = x[i]
                    x[i] = x[j]
                    x[j] = t
                    i += 1
                    j -= 1
                end
            end
            bounds[top] = lo
            bounds[top+1] = j
            bounds[top+2] = i
            bounds[top+3] = hi
            top += 4
        end
    end
end
