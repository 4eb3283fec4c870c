import "imfilter.q"
% Convolutions with few factors are computed in blocks, in float64, from elements of any type: the result is the one of
% float64 elements, bit by bit.
function same = is_same(x, h, mode)
    [a, b] = {conv2(x, h, mode), conv2(h, x, mode)}
    same = isequal(a, float32(conv2(float64(x), float64(h), mode))) && _
           isequal(b, float32(conv2(float64(h), float64(x), mode)))
end

wrong = 0
for s = {[1,1], [1,1024], [1,1025], [3,2], [15,40], [16,16], [17,2051], [50,1030]}
    t = reshape(mod(float64(0..prod(s)-1)*7919, 251), s)
    for x = {float32(t/3), uint8(t), int16(t-100), t > 99, float16(t/7)}
        for m = {[1,1], [3,3], [1,7], [7,1], [4,2], [20,1]}
            h = float32(reshape(mod(float64(0..prod(m)-1)*31, 17)/5 - 1, m))
            for mode = {"full", "same", "valid"}
                wrong += is_same(x, h, mode) ? 0 : 1
            end
        end
    end
end
printf("%d wrong\n", wrong)

% Infinite elements spread to the neighbours only.
x = float32(ones(40,1100))
x[20,1024] = inf
y = conv2(x, ones(3,3), "same")
printf("%d infinite, sum of the others %d\n", sum(!isfinite(y)), sum(y[isfinite(y)]))

% The same sum as a filter, of integers, which have no rounding errors.
x = float32(mod(reshape(0..40*1100-1, [40,1100])*7919, 251))
h = float32(reshape(0..14, [3,5]))
printf("%d\n", isequal(conv2(x, h, "same"), imfilter(x, h, [1,2], "zeros")))
