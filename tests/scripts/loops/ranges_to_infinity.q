% options: --loops always
% A range to -inf has no iteration; a range to inf is left by break.
function [] = turns(hi)
    n = 0
    for i=0..3
        for j=1..hi
            n = n*2 + j
            if j > 5
                break
            end
        end
    end
    print n
end
turns(-inf)
turns(inf)
turns(0.99)
turns(3.5)
