% A sum or product of integers beyond 64 bits is an error, also along a dimension and in intermediate results.
big = int64([9223372036854775807,1])
m = [big, int64([-1,5])]
wide = int([100000,100000,100000,100000])
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> sum(big))
attempt(() -> sum(m, 1))
attempt(() -> sum(m, 0))
attempt(() -> cumsum(big))
attempt(() -> cumsum(m, 1))
attempt(() -> prod(wide))
attempt(() -> prod(wide, 1))
attempt(() -> cumprod(wide))
attempt(() -> prod([wide,wide], 0))
attempt(() -> sum(uint64([9223372036854775807,1024]), 1))
attempt(() -> sum(uint64([9223372036854775807,9223372036854775807,9223372036854775807]), 1))
attempt(() -> cumsum(int64([1,2,3])))
