% Mistakes that only values reveal warn once per location, in the interpreter, compiled loops and --loops never alike.
x = 0..9
i = 5/2
for round = 1..2
    print x[i]                             % a computed fraction
end
print x[[0.5,1,2]]
y = zeros(10)
y[i] = 3
labels = mod((0..999).*1.7, 10)
for k = 0..999
    y[labels[k]] += 1                      % side by side, with sums
end
{!parallel for}
for k = 0..9
    v = labels[k]
    if v >= 0 && v < 10
        y[k] = x[v]
    end
end
for k = 0..9
    v = [10,20,30]
    y[k] = v[k/4]                          % of a vector that the loop made
end
print y, " ", x[floor(i)], " ", x[int(i)]
{!warnings off}
print x[i]
{!warnings on}

n : int = int(2^31)                        % saturates
n = 2.7
small : int8 = -300
none : uint8 = nan
print n, " ", small, " ", none
type counter : mutable class
    k : int
end
c = counter(k:=5)
c.k = 3e9
print c.k, " ", int8(300)                  % asked for in so many words
big = 0
for k = 0..9
    q : int = 4e9*x[k]
    big += q
end
print big

w = [0.1,0.2,0.5]
print w[0] == 0.1, " ", w[2] == 0.5, " ", w == 0.1
hits = 0
for k = 0..2
    if w[k] != 0.2
        hits += 1
    end
end
print hits, " ", 1 == 1+1e-10, " ", float64([0.1])[0] == 0.1

z = [1,2,3,4]
z[z > 2] = [10,20,30,40]                   % as many as z has, not as are chosen
print z
z[z > 2] = [5,6]
z[z > 0] = [1,2,3,4]
print z
