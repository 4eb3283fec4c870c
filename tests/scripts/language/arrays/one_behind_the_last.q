% options: --loops never
% The element after the last one of a row is not the first of the next: read, written, or updated, in arrays of each
% element type.
function text = outcome(f)
    text = "no error"
    try
        f()
    catch e
        text = e
    end
end

function [] = try_all(v, m)
    n = numel(v)
    [rows, cols] = size(m)
    for i = {n, -1, n + 0.5}
        print(outcome(() -> v[i]))
        print(outcome(() -> set(v, i)))
        print(outcome(() -> add(v, i)))
    end
    for at = {[0, cols], [rows, 0], [0, -1], [-1, 0]}
        print(outcome(() -> m[at[0], at[1]]))
        print(outcome(() -> set2(m, at[0], at[1])))
        print(outcome(() -> add2(m, at[0], at[1])))
    end
end

function [] = set(v, i)
    v[i] = 1
end
function [] = add(v, i)
    v[i] += 1
end
function [] = set2(m, i, j)
    m[i, j] = 1
end
function [] = add2(m, i, j)
    m[i, j] += 1
end

v = zeros(3)
m = zeros(2, 4)
try_all(v, m)
print(v, m)
for like = {uint8([0]), int([0]), float64([0]), [true]}
    v = zeros_like(like, 3)
    m = zeros_like(like, 2, 4)
    print(outcome(() -> v[3]), ", ", outcome(() -> m[0, 4]), ", ", outcome(() -> set2(m, 0, 4)), ", ", outcome(() -> add2(m, 0, 4)))
    print(v, m)
end
c = {1, 2}
print(outcome(() -> c[2]), ", ", outcome(() -> set(c, 2)))
