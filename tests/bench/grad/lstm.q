% ADBench's long short-term memory: two layers over a text, in operations on whole arrays; the mean log-likelihood of the
% next letters.  The gradient is to the weights of the layers.
import "race.q"

function y = gate(x)
    y = 1./(1 + exp(-x))
end

% w: weights of x, of h, biases of the four gates, as rows
function [h, c] = cell(w, first, x, h, c)
    f = gate(x.*w[first,:] + w[first+4,:])
    i = gate(h.*w[first+1,:] + w[first+5,:])
    o = gate(x.*w[first+2,:] + w[first+6,:])
    a = tanh(h.*w[first+3,:] + w[first+7,:])
    c = c.*f + i.*a
    h = o.*tanh(c)
end

function s = value(w, text)
    d = size(w,1)
    h0 = zeros(d)
    c0 = zeros(d)
    h1 = zeros(d)
    c1 = zeros(d)
    s = 0
    for t = 0..size(text,0)-2
        [h0, c0] = cell(w, 0, text[t,:].*w[16,:], h0, c0)
        [h1, c1] = cell(w, 8, h0, h1, c1)
        y = h1.*w[17,:] + w[18,:]
        z = y - log(sum(exp(y)) + 2)
        s += sum(text[t+1,:].*z)
    end
    s = s/(size(text,0) - 1)
end

function [] = main()
    d = 14
    n = 100
    w = reshape(pattern(19*d, 37, 1021), [19,d]) - 0.5
    text = reshape(pattern(n*d, 53, 1019), [n,d])
    race(() -> value(w, text), () -> grad(w -> value(w, text), w))
end
