% Writes that show under a second name: in a later iteration of a loop, through fields, views and lists of values; and
% programs that are right.
function best = search(n)
    x = zeros(3)
    best = null
    m = -1
    for i = 0..n-1
        x[mod(i,3)] = mod(i*7,5)
        if sum(x) > m
            m = sum(x)
            best = x
        endif
    end
end
function [] = fields(n)
    p = object()
    p.best = null
    x = zeros(3)
    for i = 0..n-1
        x[0] = i
        if i == 2
            p.best = x
        endif
    end
    print p.best
end
function [] = fields_straight()
    p = object()
    x = zeros(3)
    p.start = x
    x[0] = 1
    print p.start
end
function [] = shaped()
    a = zeros(4)
    b = reshape(a, [2,2])
    b[0,0] = 1
    print a
end
function [] = tuple()
    a = zeros(4)
    [b, c] = {a, 1}
    b[0] = 1
    print a, c
end
function [] = previous()
    x = zeros(3)
    prev = ones(3)
    for i = 0..2
        print sum(x - prev)
        x[i] = i
        prev = x
    end
end
function [] = fine()
    state = zeros(3)
    for i = 0..2
        v = state
        d = sum(v)
        state[0] = d + 1
    end
    a = zeros(3)
    b = ones(3)
    for i = 0..2
        b[0] = a[0]
        t = a
        a = b
        b = t
    end
    found = null
    x = zeros(3)
    for i = 0..5
        x[0] = i
        if i == 3
            found = x
            break
        endif
    end
    print found
    for i = 0..2
        y = zeros(3)
        y[i] = 1
        if i == 2
            kept = y
        endif
    end
    print kept
    last = x
    for i = 0..2
        x[i] = 1
        last = x
    end
    print last
end
print search(5)
fields(4)
fields_straight()
shaped()
tuple()
previous()
fine()
