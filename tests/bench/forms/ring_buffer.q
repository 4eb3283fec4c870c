% The mean of the latest values, by a ring buffer.
function [x, n] = inputs()
    x = mod((0..49999)*7919, 101)/101
    n = 50
end
function y = with_array(x, n)
    ring = zeros(n)
    y = zeros(numel(x))
    s = 0
    for i = 0..numel(x)-1
        s += x[i] - ring[mod(i,n)]
        ring[mod(i,n)] = x[i]
        y[i] = s/n
    end
end
function y = with_list(x, n)
    ring = {}
    y = zeros(numel(x))
    s = 0
    for i = 0..numel(x)-1
        ring.append(x[i])
        s += x[i]
        if numel(ring) > n
            s -= ring.pop(0)
        end
        y[i] = s/n
    end
end
type buffer : mutable class
    s : float64
    at : int
    data
end
function [] = put(b : buffer, v)
    b.s += v - b.data[b.at]
    b.data[b.at] = v
    b.at += 1
    if b.at == numel(b.data)
        b.at = 0
    end
end
function y = with_object(x, n)
    b = buffer(data:=zeros(n))
    y = zeros(numel(x))
    for i = 0..numel(x)-1
        put(b, x[i])
        y[i] = b.s/n
    end
end
function y = with_shift(x, n)
    ring = zeros(n)
    y = zeros(numel(x))
    s = 0
    for i = 0..numel(x)-1
        s += x[i] - ring[0]
        ring = horzcat(ring[1..n-1], x[i])
        y[i] = s/n
    end
end
