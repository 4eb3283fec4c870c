% The sum of several terms for each element, written with and without an update operator
function [w, n] = inputs()
    n = 2000000
    w = mod((0..n-1)*389, 1000)
end
function s = update(w, n)
    s = 0
    for i = 0..n-1
        s += w[i] + 1
    end
end
function s = terms(w, n)
    s = 0
    for i = 0..n-1
        s = s + w[i] + 1
    end
end
function s = terms_before(w, n)
    s = 0
    for i = 0..n-1
        s = w[i] + (s + 1)
    end
end
function s = differences(w, n)
    s = 0
    for i = 0..n-1
        s = s - (-1) - (-w[i])
    end
end
