% options: --loops always
% A compiled loop warns in the order of execution, at any number of locations.
function s = many(x, h)
    s = 0
    for i = 0..2
        if i > 0
            s = s/2 + x[h/2+i]
        end
        s = s/2 + x[h+0] + x[h+1]
        if i == 0, s = s/2 + x[h+2], end
        s = s/2 + x[h+3] + x[h+4] + x[h+5] + x[h+6] + x[h+7] + x[h+8] + x[h+9]
    end
end
function [] = narrow(a : int, n)
    for i = 0..n
        a -= (1.5e10 / 2)*0.5 + a*0.25
    end
    print a
end
print many(0..20, 0.5)
narrow(3, 2)
