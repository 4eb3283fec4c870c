% options: --loops always --precision 64
% Sums of rows have the bits of the host's sums: rows of every length, also with steps and along columns.
x = zeros(1, 20000)[0,:]
k = 1
for j = 0..19999
    k = mod(k*7919 + 17, 10007)
    x[j] = k/2001
end
X = reshape(x, 2, 10000)
Y = transpose(X)
function s = sums(x, X, Y, lengths)
    s = zeros(6, numel(lengths))
    for k = 0..numel(lengths)-1
        n = lengths[k]
        s[0,k] = sum(x[0..n])
        s[1,k] = sum(x[0..2..n])
        s[2,k] = sum(X[1,0..2..n])
        s[3,k] = mean(Y[0..n,1])
        s[4,k] = prod(X[0,0..n]/2.3)
        s[5,k] = norm(X[0,0..n])
    end
end
function s = one(x, X, Y, n)
    a = x[0..n]
    b = x[0..2..n]
    c = X[1,0..2..n]
    d = Y[0..n,1]
    e = X[0,0..n]/2.3
    f = X[0,0..n]
    s = [sum(a), sum(b), sum(c), mean(d), prod(e), norm(f)]
end
lengths = [1,2,15,16,17,100,255,513,1000,4095,4096,5000,8191,9999]
s = sums(x, X, Y, lengths)
for k = 0..numel(lengths)-1
    n = lengths[k]
    print n, " ", all(s[:,k] == transpose(one(x, X, Y, n)))
end
short = 0..13
s = sums(x[0..99], X[:,0..99], Y[0..99,:], short)
wrong = 0
for k = 0..numel(short)-1
    wrong += any(s[:,k] != transpose(one(x[0..99], X[:,0..99], Y[0..99,:], short[k])))
end
print wrong
