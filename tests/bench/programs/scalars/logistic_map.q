% How often the logistic map visits each of a hundred intervals
function n = inputs(size)
    n = size
end
function counts = logistic_map(n)
    counts = int(zeros(100))
    x = 0.3
    for k = 1..n
        x = 3.9*x*(1 - x)
        counts[floor(100*x)] += 1
    end
end
