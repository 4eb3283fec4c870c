% Large slices that begin a few elements after a page, where copies are cut into short pieces: all elements arrive.
function bad = check(x)
    bad = 0
    n = numel(x)
    for from = {0, 1, 3, 8, 31, 33}
        for count = {0, 2049, 4097, n - 40}
            y = zeros_like(x)
            y[from..from+count-1] = x[0..count-1]
            bad += isequal(y[from..from+count-1], x[0..count-1]) ? 0 : 1
            bad += sum(y[from+count..n-1] != 0) + (from > 0 ? sum(y[0..from-1] != 0) : 0)
        end
    end
end
x = mod(0..20000, 250) + 1
print check(uint8(x)), check(int(x)), check(x), check(float64(x)), check(complex(x, x))
print isequal(circshift(x, [0,1])[1..20000], x[0..19999])
