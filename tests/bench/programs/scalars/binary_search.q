% Where numbers are in a sorted list
import "../inputs.q"
function [list, wanted] = inputs(n)
    list = 1.0*(0..n-1)
    wanted = floor(n*pattern(n, 53, 1021))
end
function y = binary_search(list, wanted)
    n = numel(list)
    y = int(zeros(n))
    for i = 0..n-1
        lo = 0
        hi = n - 1
        while lo < hi
            middle = floor((lo + hi)/2)
            if list[middle] < wanted[i]
                lo = middle + 1
            else
                hi = middle
            end
        end
        y[i] = lo
    end
end
