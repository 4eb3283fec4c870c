% options: --loops always
% The warning about a converted copy names the assignment, also where the loop runs as machine code.
function [] = one(x : vec)
    for i = 0..numel(x)-1
        y = i*2
        x[i] = y
    end
end
function [] = inner(x : vec)
    for i = 0..numel(x)-1
        for j = 0..3
            x[i] += j
        end
    end
end
a = int(0..999)
one(a)
inner(a)
print sum(a)
