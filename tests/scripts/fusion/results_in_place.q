% A result may reuse the memory of an operand, or of the old value of its variable, only if no other reference exists.
n = 300000
x = linspace(0, 1, n)
y = x                    % a second name keeps the old array
before = copy(x)
for k = 1..40
    x = x.*x - x + 1
end
x = x + 1
print isequal(y, before), " ", x[0], " ", x[n-1]

a = ones(n)
b = a
a = a + 1
print sum(a), " ", sum(b)

v = ones(n)
w = v[0..n-1]            % a slice is an array of its own
v = v.*2 + 1
print sum(w), " ", sum(v)
v = v + v
print sum(v)

held = {v}               % so does a cell
v = v - 1
print sum(held[0]), " ", sum(v)

function y = squared(x)  % and a caller
    x = x.*x + 0
    x = x + 1
    y = x
end
print sum(squared(v)), " ", sum(v)

z = zeros(n)
for k = 1..40            % the old z is not read
    z = exp(-before) + k
end
print z[0], " ", z[n-1] - 40 - exp(-1) < 1e-6

m = ones(600,500)
row = linspace(0, 1, 500)
for k = 1..40            % read in another order: m is not overwritten while it is read
    m = m + row - transpose(linspace(0, 1, 600))
end
print abs(mean(m) - 1) < 1e-4, " ", size(m)
