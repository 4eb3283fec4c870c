% A write into a selection, which is a copy, is lost.
z = zeros(4)
z[1..2][0] = 3
z[:][1] += 2
c = {1,{2,3}}
c[1][0] = 5
c[0..1][1] = 7
m = eye(3)
m[0,0..1][0] = 4
[m[0,:][1], q] = {3, 4}
print z, c, m
