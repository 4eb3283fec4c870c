% options: --loops always
% The time to compile grows with the number of nested loops, not with its power of two.
function s = f()
    s = 0
    for i0 = 0..1
    for i1 = 0..1
    for i2 = 0..1
    for i3 = 0..1
    for i4 = 0..1
    for i5 = 0..1
    for i6 = 0..0
    for i7 = 0..0
    for i8 = 0..0
    for i9 = 0..0
    for i10 = 0..0
    for i11 = 0..0
    for i12 = 0..0
    for i13 = 0..0
    for i14 = 0..0
    for i15 = 0..0
    for i16 = 0..0
    for i17 = 0..0
    for i18 = 0..0
    for i19 = 0..0
    for i20 = 0..0
    for i21 = 0..0
    for i22 = 0..0
    for i23 = 0..0
    for i24 = 0..0
    for i25 = 0..0
    for i26 = 0..0
    for i27 = 0..0
    for i28 = 0..0
    for i29 = 0..0
    s += i29 + 1
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
    end
end
print f()
