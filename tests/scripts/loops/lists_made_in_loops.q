% A list that the loop makes for itself: a stack, a queue, a collection of neighbours.
function [n, lab] = fill(bw)
    [h, w] = size(bw)
    lab = zeros(h, w)
    n = 0
    for y = 0..h-1
        for x = 0..w-1
            if bw[y,x] > 0 && lab[y,x] == 0
                n += 1
                stack = {y*w + x}
                lab[y,x] = n
                while numel(stack) > 0
                    p = pop(stack)
                    py = floor(p/w)
                    px = mod(p, w)
                    for k = 0..3
                        qy = py + (k == 0) - (k == 1)
                        qx = px + (k == 2) - (k == 3)
                        if qy >= 0 && qy < h && qx >= 0 && qx < w
                            if bw[qy,qx] > 0 && lab[qy,qx] == 0
                                lab[qy,qx] = n
                                append(stack, qy*w + qx)
                            end
                        end
                    end
                end
            end
        end
    end
end

function d = distances(next, start)
    d = -ones(size(next, 0))
    for s = start
        queue = {s}
        d[s] = 0
        while numel(queue)
            u = queue.pop(0)
            for k = 0..size(next, 1)-1
                v = next[u,k]
                if v >= 0 && d[v] < 0
                    d[v] = d[u] + 1
                    queue.append(v)
                end
            end
        end
    end
end

function y = medians(x, limit)
    y = zeros(numel(x))
    for i = 0..numel(x)-1
        near = {}
        for j = max(0, i-2)..min(numel(x)-1, i+2)
            if abs(x[j] - x[i]) < limit
                append(near, x[j])
            end
        end
        s = 0
        for v = near
            s += v
        end
        y[i] = s/numel(near)
    end
end

% helpers with a list of their own; the list of the caller is another one
function s = digits(n)
    d = {}
    while n >= 1
        d.append(mod(n, 10))
        n = floor(n/10)
    end
    s = 0
    while numel(d)
        s = s*10 + d.pop(0)
    end
end
function y = reversed(x)
    y = zeros(numel(x))
    for i = 0..numel(x)-1
        d = {x[i], 1}
        y[i] = digits(d[0]) + digits(x[i] + d[1])*numel(d)
    end
end

% a list that is read afterwards, has another name, or holds other things: the interpreter
function [last, kept] = others(n)
    kept = {}
    for i = 0..n-1
        last = {i}
        append(last, i*2)
        a = {i}
        b = a
        append(b, 5)
        kept = {a, numel(a)}
    end
end

function s = empties(n)
    s = 0
    for i = 0..n-1
        q = {i, i+1}
        try
            if i == n-1
                q = {}
                q.pop()
            end
        catch e
            print e
        end
        s += numel(q)
    end
end

bw = mod((0..16*16-1)*7919, 31)
bw = float(reshape(bw, [16,16]) > 12)
[n, lab] = fill(bw)
print n, " ", sum(lab), " ", max(lab)
next = reshape(mod((0..29)*17, 13) - 3, [10,3])
print distances(next, [0,4])
print medians([1,2,10,3,4,11,12,2], 3)
print reversed([120, 7, 4505])
print others(3)
print empties(3)
