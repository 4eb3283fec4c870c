% prompt: yes
% devices: one
1+2
ans*2
x = [1,2]
ans
o = object()
who
zeros(2,3);
ans
"text"
strcat(ans, "s")
who = 5
who
print "no value"
ans
