% options: --loops always
% Loops draw the same numbers as the interpreter, and the stream continues after them.
function p = circle(n)
    inside = 0
    for k=1..n
        x = rand()
        y = rand()
        if x*x + y*y < 1
            inside += 1
        end
    end
    p = 4*inside/n
end
randseed(5)
print circle(1000), " ", round(1e6*rand())
% iterations that draw different counts
s = 0
steps = 0
while s < 20 && s > -20
    s += rand() < 0.5 ? -1 : 1
    if s == 0
        s = randi(5)
    end
    steps += 1
end
print s, " ", steps, " ", round(1e6*rand())
% each position its own number, also downward and in steps
x = zeros(8)
for i=7..-1..0
    x[i] = randi(100) + round(1000*randn())/1000
end
for i=0..2..7
    x[i] += round(100*rand())
end
print x, " ", round(1e6*rand())
% a random permutation by swapping
p = 0..9
for i=9..-1..1
    j = randi(i+1)
    [p[i], p[j]] = [p[j], p[i]]
end
print p
% a failing iteration has drawn its numbers
try
    for i=0..9
        x[i] = rand()
    end
catch e
    print e, " ", round(1e6*rand())
end
try
    for i=0..9
        s = randi(3-i)
    end
catch e
    print e, " ", round(1e6*rand())
end
