% options: --loops always --explain
% A function called by a loop accepts arguments by name and fills in defaults, as everywhere; its only
% result, a vector, may be unpacked.
function y = scaled(x, factor = 3, offset : int = 1)
    y = x*factor + offset
end
function p = polar(r, t)
    p = [r*cos(t), r*sin(t)]
end
function s = total(n)
    s = 0
    for k = 0..n-1
        s += scaled(k) + scaled(k, offset:=2) + scaled(k, 5) + scaled(x:=k, offset:=int(0.9), factor:=7)
        [a, b] = polar(2, 0)
        s += a + b
    end
end
print total(10)
