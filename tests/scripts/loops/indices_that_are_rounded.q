% options: --loops always
% Indices that floor, round and sums of these give need no rounding; others are rounded toward zero.
function y = look_up(x, at, shift)
    y = zeros(numel(at))
    for i = 0..numel(at)-1
        y[i] = x[floor(at[i]) + shift] + 10*x[round(at[i]) - shift + 1]
    end
end
function y = cut(x, at)
    y = zeros(numel(at))
    for i = 0..numel(at)-1
        y[i] = x[at[i]]
    end
end
function n = votes(at)
    n = zeros(13)
    for i = 0..numel(at)-1
        for k = 0..2
            n[ceil(at[i]*0.5) + k] += 1
        end
    end
end
x = 0..11
print look_up(x, [2.5,3.25,7.75,1], 0), look_up(x, [2.5,3.25,7.75,1.0], -1)
print votes([0.5,7,18.5,3])
for bad = {[1,-1.5], [1,11.5], [1,0/0], [1,1/0], [1,-1/0], [1,1e30], [1,-1e19], [1,2^63], [1,-0.5]}
    try
        print look_up(x, bad, 0)
    catch e
        print e
    end
    try
        print cut(x, bad)
    catch e
        print e
    end
end
