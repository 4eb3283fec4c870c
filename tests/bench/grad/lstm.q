% ADBench's long short-term memory: two layers, whose weights are diagonal, over a text; the mean log-likelihood of the
% next letters.  The gradient is to the weights.
import "race.q"

function y = gate(x)
    y = 1/(1 + exp(-x))
end

% rows of w: for each layer the weights of the gates (forget, in, out, change), then their biases; then the weights of
% the letters that go in, of those that come out, and their biases
function s = value(w, text)
    d = size(w,1)
    h0 = zeros(d)
    c0 = zeros(d)
    h1 = zeros(d)
    c1 = zeros(d)
    y = zeros(d)
    s = 0
    for t = 0..size(text,0)-2
        e = 2
        for k = 0..d-1
            x = text[t,k]*w[16,k]
            h = h0[k]
            c = c0[k]*gate(x*w[0,k] + w[4,k]) + gate(h*w[1,k] + w[5,k])*tanh(h*w[3,k] + w[7,k])
            h0[k] = gate(x*w[2,k] + w[6,k])*tanh(c)
            c0[k] = c
            x = h0[k]
            h = h1[k]
            c = c1[k]*gate(x*w[8,k] + w[12,k]) + gate(h*w[9,k] + w[13,k])*tanh(h*w[11,k] + w[15,k])
            h1[k] = gate(x*w[10,k] + w[14,k])*tanh(c)
            c1[k] = c
            y[k] = h1[k]*w[17,k] + w[18,k]
            e += exp(y[k])
        end
        for k = 0..d-1
            s += text[t+1,k]*(y[k] - log(e))
        end
    end
    s = s/(size(text,0) - 1)
end

function [] = main()
    d = 14
    n = 1000
    w = reshape(pattern(19*d, 37, 1021), [19,d]) - 0.5
    text = reshape(pattern(n*d, 53, 1019), [n,d])
    race(() -> value(w, text), () -> grad(w -> value(w, text), w))
end
