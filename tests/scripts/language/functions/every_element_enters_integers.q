% Integer parameters check every element of an array, for any memory layout, and at the limits of 64 bits.
function n = whole(x : vec[int])
    n = numel(x)
end
function n = long(x : vec[int64])
    n = numel(x)
end
function n = bytes(x : mat[uint8])
    n = numel(x)
end
function [] = tell(f)
    try
        print f()
    catch e
        print e
    end
end
tell(() -> whole([1.0, 2, nan]))
tell(() -> whole(vec[uint64](3)))
tell(() -> long([1.0, 2^63]))
a = vec[uint64](600)
a[599] = 9223372036854775807
tell(() -> long(a))
a[500] = 9223372036854775808
tell(() -> long(a))
m = zeros(40,50)
m[39,49] = 256
tell(() -> bytes(m))
tell(() -> bytes(m[0..38,:]))
tell(() -> bytes(transpose(m)))
m[39,49] = 255
tell(() -> bytes(transpose(m)))
m[3,2] = 0.5
tell(() -> bytes(m[:,0..2]))
tell(() -> bytes(m[:,0..1]))
m[3,2] = -0.0
tell(() -> bytes(m))
