% options: --no-warnings --loops always
% Assignments to several names, functions with several results and typed parameters, match.
[a,b] = [0,1]
for i=1..20
    [a,b] = [b,a+b]
end
print a, " ", b

function [q, r] = split(x : int, by)
    q = floor(x/by)
    r = mod(x, by)
end
s = 0
for i=0..30
    [q,r] = split(int(i*1.5), 7)
    s = s*1.01 + q*10 + r
end
printf("%.12g", s)

function y : uint8 = clipped(x : scalar)
    y = x
end
t = int(0)
for i=-3..3
    t = t + clipped(i*100.5)
end
print t

function name = kind(x)
    match x with
    | 0 -> name = -1
    | (1, 2.5) -> name = 12
    | int(4) -> name = 4
    | _ ->
        if x > 4
            name = 100
            return
        end
        name = 0
    end
end
k = 0
for i=0..0.5..6
    k = k*3 + kind(i)
end
print k

c : int = 1
c : scalar = 1
d = 0
for i=0..5
    e : uint8
    e = i*100
    c = c + 0.25
    d = d + e
end
print c, " ", d
