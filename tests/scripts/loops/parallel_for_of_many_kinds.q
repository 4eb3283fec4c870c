% devices: ref cpu
% More types of values than a loop keeps code for: each run is parallel all the same.
function [] = fill(x, v)
    {!parallel for}
    for i=0..numel(x)-1
        x[i] = v*i
    end
end
sum_of_all = 0
for r=0..1
    for v={2, 0.5, int(3), int(5000000000), true}
        for x={zeros(4), float64(zeros(4)), int(zeros(4)), uint8(zeros(4))}
            fill(x, v)
            sum_of_all += sum(x)
        end
    end
end
print sum_of_all
