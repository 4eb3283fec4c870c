x = [1,2,3]
print $type(x), " ", $size(x), " ", $eval(1+2), " ", $check(1 < 2)
function y = f(a)
    y = $ftype("__host__")
end
print f(1), " ", $specialize(f), $inline(3)
