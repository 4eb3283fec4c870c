% options: --loops always --explain
% devices: ref cpu
% Iterations that draw a known number of times run in parallel, others serially.
x = zeros(8)
for i=7..-1..0
    x[i] = randi(100) + randn()
end
s = 0
while s < 3
    s += rand() < 0.5 ? 0 : 1
end
p = 0..9
for i=9..-1..1
    j = randi(i+1)
    [p[i], p[j]] = [p[j], p[i]]
end
try
    for i=0..9
        x[i] = rand()
    end
catch e
    print e
end
