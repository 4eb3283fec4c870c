% A statement in a branch that cannot be compiled: the compiled loop ends there, the interpreter finishes the iteration,
% and the loop continues as machine code.

function s = reports(x)
    s = 0.0
    for i = 0..numel(x)-1
        s += x[i]
        if mod(i, 40) == 39
            print "after ", i, ": ", s
            s = s + 1
        end
        x[i] = s
    end
    print "the counter is ", i
end

function [s, t] = counts_down(n)
    [s, t] = [0, ""]
    for i = n-1..-2..0
        s += i
        if s > 50 && mod(i, 3) == 0
            t += sprintf("%d,", i)
        elseif i == 1
            print "one"
        end
        s -= 1
    end
end

function y = leaves_early(x)
    y = -1
    for i = 0..numel(x)-1
        if x[i] < 0
            try
                error("negative: ", x[i])
            catch e
                print e
            end
            if i > 20
                y = i
                return
            end
            continue
        end
        if x[i] > 100
            print "large at ", i
            break
        end
        x[i] = i
    end
    y += 0.5
end

function [n, seen] = while_form(limit)
    [n, k, seen] = [0, 27, {}]
    while k != 1
        if mod(k, 2) == 0
            k = k / 2
        else
            k = 3*k + 1
        end
        if k > limit
            append(seen, sprintf("%d", k))
        end
        n += 1
    end
end

function [k, s] = counted_while(n)
    [k, s] = [0, 0]
    while k < n
        s += k
        if mod(k, 7) == 3
            print "at ", k, " ", s
        end
        k += 1
    end
end

function [k, s] = repeat_form(n)
    [k, s] = [0, 0.5]
    repeat
        k += 1
        s = s*1.5 - k
        match mod(k, 10) with
        | 4 -> print "four ", s
        | (2, 7) -> s = s + numel(sprintf("%g", k))
        end
    until k >= n
end

function s = inner_loops(n)
    s = 0
    for i = 0..n-1
        for j = 0..i
            s += i*j
        end
        if mod(i, 10) == 5
            for j = 0..1
                print "row ", i, " ", j, " ", s
                s += j
            end
        end
    end
end

function [best, at] = detections(x)
    [best, at] = [0, {}]
    for i = 1..numel(x)-2
        if x[i] > x[i-1] && x[i] > x[i+1]
            append(at, {i, x[i]})
            best = max(best, x[i])
        end
    end
end

function s = fails_there(n)
    s = 0
    for i = 0..n-1
        s += i
        if s == 45
            s = undefined_size(s)
        end
    end
end
function y = undefined_size(s)
    y = ones(s, -1, "nothing")
end

print reports(ones(100))
print counts_down(40)
x = ones(30)
x[[7, 25]] = -2
print leaves_early(x), " ", sum(x)
x[26] = 200
x[25] = 1
print leaves_early(x)
print while_form(5000)
print counted_while(20)
print repeat_form(25)
print inner_loops(20)
print detections([0,1,0,3,2,5,4,4,1,7,0])
try
    fails_there(20)
catch e
    print "caught"
end

% at the top level, with fractions and with ints
total = 0
count = int(0)
for k = 0..0.5..20
    total += k
    count += int(2)
    if total > 100
        print k, " ", count
        total = 0
    end
end
print total, " ", count, " ", k

% a counter that the body changes
for i = 0..9
    if i == 4
        print "four becomes ten"
        i = 10
    end
    total += i
end
print total, " ", i

% an outer counter keeps the value that the body gives it until its next value
t = 0
for [i, j] = 0..[1, 2]
    for k = 0..0
        i = i + 10
    end
    t += i
end
print t, " ", i

% several counters
function c = several(x)
    c = 0
    for [i, j] = 0..size(x)-1
        c += x[i, j]
        if x[i, j] == 7
            print i, " ", j, " ", c
            c -= 1
        end
        x[i, j] += 1
    end
    for [i, j, k] = [3, 0, 5]..[-1, 2, 1]..[1, 4, 6]
        c += i*j - k
        if i == 2 && j == 2
            print i, j, k
        end
    end
end
x = mod((0..11)*5, 12)
y = zeros(3, 4)
y[:, :] = reshape(x, [3, 4])
print several(y)
print y

% such a statement in a group of expressions over arrays that run together
function s = in_a_group(x)
    s = 0
    for i = 0..4
        x[2] = i
        if mod(i, 3) == 1
            b = (i + 1)*x <= 3
            s += numel(sprintf("%g", x[0] + max(i, 2)))
        end
    end
    s += sum(b)
end
print in_a_group((0..6)*0.25)

% loops over the items of vectors and lists
function s = items(v)
    s = 0.0
    for x in v
        s = s*0.5 + x
        if mod(x, 4) == 1
            if x > 20
                break
            end
            print x, " ", s
            s += 1
        end
    end
end
print items(0..30)
print items({1,5,6,7,9,2})
print items(zeros(0)), " ", items([1]), " ", items({3,9})

% a loop over items that has been left, and then ends early; the same loop over other things, also within itself
function s = first_large(items, limit)
    s = 0
    for x in items
        s += x
        if x == limit
            print "found ", x
            break
        end
    end
end
function s = within(items, depth)
    s = 0
    for x in items
        s += x
        if x == 5 && depth > 0
            print "depth ", depth
            s += within(depth > 1 ? 5 : [1,5,2], depth - 1)
        end
    end
end
function s = fails_at(items)
    s = 0
    for x in items
        s += x
        if x == 3
            s += numel(sprintf("%d", x))
            error("stopped at ", x)
        end
    end
end
print first_large(0..9, 5), " ", first_large(7, 7), " ", first_large({1,2,9}, 2), " ", first_large([3], 4)
print within(0..9, 2)
for k = 0..1
    try
        fails_at(0..5)
    catch e
        print e
    end
    print first_large(3, 1)
end

% messages that are made, in parentheses
function [] = checked(x)
    for i = 0..numel(x)-1
        (assert(x[i] < 4, f"stop at {i}"))
        x[i] = -x[i]
    end
end
x = (0..9)*1
try
    checked(x)
catch e
    print e, " ", x
end

% a while loop around a short loop over items
function [n, s] = many_short(m)
    [n, s] = [0, 0]
    while n < m
        for v in [1,2,3,4,5,6,7]
            s += v*n
        end
        n += 1
    end
end
print many_short(300)

% early returns do not count, and the statement that is reached is named
function y = search(x, from, verbose)
    y = -1
    for i = from..numel(x)-1
        if verbose
            print "at ", i
        end
        if x[i] > 2
            y = i
            return
        end
    end
end
t = 0
for k = 0..99
    t += search([0,1,2,3,4], mod(k, 4), k == 50)
end
print t
