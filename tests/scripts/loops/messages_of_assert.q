% options: --loops always
% assert evaluates the arguments of its message in each iteration, also if loops are compiled.
function n = fast(x, z)
    {!fast_math}
    n = 0
    for i = 0..numel(x)-1
        for j = 0..9
            assert(x[i] + 0.1 + 0.2 == z[i], "sum ", i)
            n += 1
        end
    end
end
x = float64(1..300)/7
z = x + 0.1
z = z + 0.2
print fast(x, z)
function y = outside(x)
    y = 0
    for i = 0..numel(x)-1
        assert(x[i] >= 0, "before ", x[i+1])
        y += x[i]
    end
end
try
    print outside(mod(0..199,7))
catch e
    print e
end
function y = lazy(x)
    y = 0
    for i = 0..numel(x)
        assert(i == numel(x) || x[i] >= 0, "here ", x[i])
        y += 1
    end
end
try
    print lazy(mod(0..199,7))
catch e
    print e
end
function s = noise(n)
    s = 0
    for i = 1..n
        s += 1
        assert(s < 1000, "noise ", rand())
    end
end
rng(1)
a = noise(10)
b = rand()
rng(1)
for i = 1..10
    _ = rand()
end
print b == rand()
function s = shown(x, t)
    s = 0
    for i = 0..numel(x)-1
        assert(x[i] < t, f"x[{i}] is {x[i]}", " of ", t, f", after {s:.2f}")
        s += x[i]
    end
end
try
    print shown(0..99, 50)
catch e
    print e
end
