% options: --loops always
% A function that the loop calls reads the partial sum.
s = 0
t = 0
function y = late(i)
    y = s > 10 ? 1000 : 1
end
for i=0..9999
    s += late(i)
end
print s
s = 0
function y = so_far(i)
    y = s
end
for i=0..999
    s -= 1
    t += so_far(i)
end
print s, " ", t
