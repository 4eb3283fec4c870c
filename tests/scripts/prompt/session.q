% prompt: yes
% exit: 1
% devices: one
1 + 2
x = [1,2,3]
x
x(0)
function y = double(a)
    y = 2*a
end
double(21)
if x[0] == 1
    print "yes"
end
unknown_name
v = (1 +
2)
v
zeros(100,100)
?double
?numel
exit
print "never reached"
