% options: --loops always
% After `for v in x`, v is the last element, also if the iterations have run in parallel.
function [] = last(x)
    for v in x
        w = 2*v
    end
    print w, " ", v, " ", type(v)
end
last([0.25, 0.5, 0.75])
last((0..9999)./4)
last(uint8([3, 200]))
last(float64([1, 1/3]))
last([true, false])
