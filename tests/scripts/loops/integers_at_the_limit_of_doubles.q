% options: --loops always --precision 64
% Integers near 2^53 have the values of the interpreter: 2^53 + 1 is not a double, neither as a literal nor as a sum of
% bounds, and a range that begins or ends there is an error.
function [] = sums(x, y)
    for i=0..3
        m = 0
        if x[i] > 0, m = 9007199254740992, end
        k = m + 1
        y[i] = k == m ? 1 : 2
    end
    print "sum ", y
    for i=0..3
        m = 0
        if x[i] > 0, m = -9007199254740992, end
        k = m - 1
        y[i] = k == m ? 1 : 2
    end
    print "difference ", y
    for i=0..3
        m = 0
        if x[i] > 0, m = 9007199254740991, end
        k = m + 2
        l = m*3 - 3
        y[i] = (k == m + 1 ? 1 : 2) + (l - 2*m == m - 3 ? 10 : 20)
    end
    print "sum beyond ", y
end
function [] = literals(x, y)
    for i=0..3
        y[i] = x[i] == 9007199254740993 ? 1 : 2
    end
    print "equal ", y
    for i=0..3
        y[i] = 9007199254740993 - x[i]
        if x[i] < 9007199254740993, y[i] += 7, end
        if x[i] > -9007199254740993, y[i] += 16, end
    end
    print "less ", y
    for i=0..3
        k = x[i] > 3 ? 9007199254740993 : 9007199254740991
        m = max(k, int(x[i]))
        y[i] = (k - 9007199254740990)*10 + (m == k) + (m > 9007199254740992)
    end
    print "choice ", y
end
function [] = first(x, y)
    for i=0..3
        for j=9007199254740993..int(4), y[i] = 100, end
    end
end
function [] = last(x, y)
    for i=0..3
        for j=int(4)..9007199254740993
            y[i] += 1
            if j > 8, break, end
        end
    end
end
function [] = step(x, y)
    for i=0..3
        for j=0..9007199254740993..int(4), y[i] += 1, end
    end
end
function [] = negative(x, y)
    for i=0..3
        for j=-9007199254740993..int(4)
            y[i] += 1
            if y[i] > 8, break, end
        end
    end
end
function [] = chosen(x, y)
    for i=0..3
        m = x[i] > 3 ? 9007199254740993 : 4
        for j=m..int(8), y[i] += 1, end
    end
end
function [] = exact(x, y)
    for i=0..3
        c = 0
        for j=9007199254740990..9007199254740992
            c += 1
            y[i] = j - 9007199254740990
        end
        y[i] += 10*c
        for j=-9007199254740992..-9007199254740991, y[i] += 100, end
    end
    print "exact ", y
end
function [] = report(f, x)
    y = zeros(4)
    try
        f(x, y)
    catch e
        print y, " ", e
    end
end
x = [1,9007199254740992,-3,9007199254740994]
for f = {sums, literals, first, last, step, negative, chosen, exact}
    report(f, x)
end
