% Additional results of functions.
import "signal.q"

m = [[0,1.5,0],[2,0,-3]]
[row, column] = find(m)
print row, column
[row, column, value] = find(m)
print value, m[row[0],column[0]]
[row, column] = find([0,1,1] == 1)
print row, column
[row, column, value] = find(complex([0,1],[0,2]))
print value
[row, column] = find(zeros(2,2))
print numel(row), numel(column)
print find(m)

x = [0,1,2,3,4]
y = [1,3,5,8,8]
[p, S] = polyfit(x, y, 1)
print p, " ", S.df, " ", abs(S.normr - norm(y - polyval(p, x))) < 1e-6
A = transpose(float64([[0,1,2,3,4],[1,1,1,1,1]]))
print allclose(transpose(S.R)*S.R, transpose(A)*A)
[p, S, mu] = polyfit(x, y, 1)
print mu, allclose(polyval(p, (x-mu[0])/mu[1]), polyval(polyfit(x, y, 1), x), 1e-5)

[r, p] = corrcoef(float64([1,2,3,4,5]), float64([2,1,4,3,7]))
printf("%.10f %.10f %g", r[0,1], p[0,1], p[0,0])
[r, p] = corrcoef(float64([[1,2,9],[2,1,4],[3,5,4],[4,3,1],[7,8,2]]))
printf("%.10f %.10f %.10f", p[0,1], p[0,2], p[1,2])
[r, p] = corrcoef(float64([1,2]), float64([2,1]))
print p
[r, p] = corrcoef(float64([1,2,3]), float64([2,4,6]))
print p[0,1] < 1e-6

[R, info] = chol([[4,2],[2,3]])
print info, " ", allclose(transpose(R)*R, [[4,2],[2,3]])
[R, info] = chol([[1,2],[2,1]])
print info

b = [1,2,0.5]
a = [1,-0.5]
s = float64([1,2,3,4,5,6])
[first, state] = filter(b, a, s[0..2])
[second, last] = filter(b, a, s[3..5], state)
print allclose(horzcat(first, second), filter(b, a, s)), " ", numel(state)
[y, state] = filter(2, 1, s)
print y, numel(state)
try
    filter(b, a, s, [1])
catch e
    print e
end

[S, f, t] = spectrogram(sin(0..511), 128, 64, null, 1000)
print size(S), " ", f[0], " ", f[64], " ", t[0], " ", t[1], " ", numel(t)
