% options: --explain --loops always
% exit: 3
% Consecutive statements on global variables run as one kernel, like those on the variables of a function.
function s = read()
    s = sum(d) + 1000*sum(e)
end
x = mod((0..49999)*7, 100)*0.5
y = mod((0..49999)*3, 64)*0.25
d = x - y
e = sqrt(d.^2 + 1)
s = e.*d + x
printf("%.5g %.5g %.5g", sum(d), sum(e), sum(s))
printf("%.5g", read())
d = x + 1                             % a value that the group replaces
d = d.*y
e = d - y
printf("%.5g", read())
f = () -> sum(e)
e = x - 3*y                           % read by a function that has captured it
t = e.*e
printf("%.5g", f())
for k = 1..2                          % in a block
    d = e + k
    e = 0.5*d + x
end
printf("%.5g", read())
try
    d = x*2
    e = d + x[0..9]
catch err
    print err
end
printf("%.5g", read())
m : mat = x*2                         % a variable with a type
u = m + x
printf("%.5g %d", sum(u), ndims(m))
exit(3)
