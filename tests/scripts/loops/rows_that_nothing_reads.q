% options: --loops always
% A loop computes slices that nothing reads: an integer that does not fit their type is an error there, too.
function y = discard(u, k)
    y = 0
    for i = 0..3
        v = u .* k
        y += 1
    end
end
function y = count(u, k)
    y = 0
    for i = 0..3
        v = u[0..numel(u)-1] + k
        y += numel(v)
    end
end
for u = {uint8([1,2,3]), int([1,2,3]), uint8(zeros(100)), int64([1,2,3]), [1,2,3]}
    for k = {int(2), int(2^31), -int(2^40)}
        try, print discard(u, k), catch e, print e, end
        try, print count(u, k), catch e, print e, end
    end
end
