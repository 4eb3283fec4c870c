% options: --loops always
% Cells of numbers that loops append to, shorten, read, set and go through; other cells stay interpreted.
function r = primes_to(n)
    primes = {}
    for k = 2..n
        prime = true
        for p = primes
            if p*p > k
                break
            end
            if mod(k, p) == 0
                prime = false
                break
            end
        end
        if prime
            primes.append(k)
        end
    end
    r = primes
end
function [n, last] = queue(steps)
    q = {0, 1}
    n = 0
    last = 0
    while numel(q) > 0 && n < steps
        last = q.pop(0)
        n += 1
        q.append(last + 2)
        if n < 3000
            append(q, last + 0.5)
        end
    end
    last += q[numel(q)-1]
end
function [] = push(stack, v)
    stack.append(v)
end
function r = depth_first(n)
    stack = {n}
    r = 0
    while numel(stack) > 0
        k = pop(stack)
        r += k
        if k > 1
            push(stack, floor(k/2))
            push(stack, k-1-floor(k/2))
        end
    end
end
function [] = report(f)
    try
        f()
    catch e
        print e.line, ": ", e
    end
end
p = primes_to(60)
print p, " ", type(p), " ", numel(primes_to(5000))
print queue(8000), " ", depth_first(1000)

% The types of items, and all names of a list.
counts = {int(1), int(2)}
same = counts
flags = {}
for i = 0..4
    counts[mod(i,2)] += int(i)
    counts.append(int(i))
    flags.append(i > 2)
end
print same, " ", type(same[0]), " ", flags, " ", type(flags[0])
for i = 0..2
    same.append(int(i))
    counts.pop()
end
print counts, numel(same)

% Items of several types, strings and arrays are left to the interpreter.
mixed = {}
for i = 0..3
    mixed.append(i == 2 ? "two" : i)
    mixed.append([i, i])
end
print mixed
words = {"a", "b"}
n = 0
for w = words
    n += strlen(w)
end
print n

% Errors leave the list as the interpreter does.
c = {1, 2, 3}
report(() -> (for_each = 0; c.pop(7)))
try
    for i = 0..9
        c.append(i)
        c[2*i + 1] = i*0.5
    end
catch e
    print e, ": ", c
end
try
    for i = 0..9
        c.pop(0)
        c.pop()
    end
catch e
    print e, ": ", c
end
try
    for i = 0..9
        c.append(c[i - 1])
    end
catch e
    print e, ": ", c
end
for i = 0..5
    c.append(i/2)
end
s = 0
for i = 0..1
    s += c[i + 1.5]
end
print s

% The index of an update is evaluated before the value, and messages name the variable of the function.
function c = moved(c, n)
    for i = 0..n
        append(c, i)
        c[numel(c)-2] += pop(c)
    end
end
function [] = beyond(c)
    for i = 0..3
        c[numel(c)-1] += pop(c)
    end
end
function y = last(l)
    y = l[numel(l)-1]
end
function [] = lasts(c)
    s = 0
    for i = 0..3
        s += last(c)
        pop(c)
    end
end
c = moved({1,2,3}, 300000)
print numel(c), " ", c[1], " ", c[2]
for f = {beyond, lasts}
    try
        f({1,2})
    catch e
        print e
    end
end
