import "../inputs.q"
function x = inputs(n)
    x = pattern(n, 37, 1021)
end
function x = insertion_sort(x)
    x = copy(x)
    for i = 1..numel(x)-1
        key = x[i]
        j = i - 1
        while j >= 0 && x[j] > key
            x[j+1] = x[j]
            j -= 1
        end
        x[j+1] = key
    end
end
