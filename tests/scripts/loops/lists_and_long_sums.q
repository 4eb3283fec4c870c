% A loop with lists and sums of arrays with more than 4096 elements, which it leaves to the interpreter or not.
type group : mutable class
    mean : scalar
end
function y = of_objects(x, n)
    groups = {group(mean:=-1), group(mean:=1)}
    for it = 1..n
        for g in groups
            g.mean = sum(x)/numel(x) + it
        end
    end
    y = groups[0].mean + groups[1].mean
end
function y = of_slices(x, n)
    groups = {group(mean:=-1), group(mean:=1)}
    r = zeros(2, numel(x))
    for it = 1..n
        for i = 0..20
            for k = 0..1
                r[k,i] = groups[k].mean + x[i]
            end
        end
        for g in groups
            g.mean = sum(x[0..99]) + it
        end
    end
    y = groups[0].mean + sum(r)
end
function y = of_numbers(x, n)
    c = {1, 2, 3}
    y = 0
    for it = 1..n
        for k = 0..2
            y += c[k]*sum(x)
        end
        c[0] = it
    end
end
x = ones(6000)
print of_objects(x, 300), " ", of_slices(x, 300), " ", of_numbers(x, 300)
print of_objects(x[0..999], 300), " ", of_slices(x[0..999], 300), " ", of_numbers(x[0..999], 300)
