% options: --explain --loops auto
% devices: cpu opencl
% exit: 3
% The reasons why loops stay in the interpreter say what to write instead, also before compiling would be worth it.
function n = count(s)
    n = 0
    for i = 0..numel(s)-1
        n += s[i..i] == "a"
    end
end
function d = distance(a, b)
    m = numel(b)
    before = 0..m
    for i = 1..numel(a)
        row = zeros(m+1)
        for j = 1..m
            row[j] = min([before[j]+1, row[j-1]+1, before[j-1]+(a[i-1] != b[j-1])])
        end
        before = row
    end
    d = before[m]
end
function d = walk(a)
    d = 0
    now = a
    for i = 1..20000
        d += now[mod(i,100)]
        now = horzcat(a, 1)
    end
end
function h = hash(n)
    h = uint64(7)
    for i = 1..n
        h = uint64(mod(h*0.31 + i, 1000003))
    end
end
function h = add(x, n)
    h = 0
    for i = 1..n
        x[1] += i
        h += x[mod(i,2)]
    end
end
function y = halves(x)
    if numel(x) < 2
        y = x
    else
        y = halves(x[0..floor(numel(x)/2)-1])
    end
end
s = "banana"
for k = 1..12
    s = s + s
end
print count(s)
print distance(mod(0..299,7), mod(0..199,5))
print walk(0..99)
print hash(20000)
print add(uint64([1,2]), 20000)
for k = 1..40000
    halves(0..1023)
end
exit(3)
