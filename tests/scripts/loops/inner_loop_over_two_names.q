% An inner loop changes an array by one name and reads it by another one that the outer loop has given it.
function [] = mirrored(a, c, n, k)
    for i = 0..k
        a = c
        for l = 0..n-1
            c[l] = a[n-1-l] + n-1
        end
        c = a
    end
    print a, " ", c
end
function [] = three(a, b, c, n, k)
    for i = 0..k
        b = +c
        a = b
        l = 0
        while l < n
            c[l] = a[n-1-l] + b[l]
            l += 1
        end
        c = real(a)
    end
    print a, " ", b, " ", c
end
for k = 0..2
    mirrored([0.0,3,6,9], [0.0,2,4,6], 4, k)
    mirrored([0.0,3,6,9], float64([0.0,2,4,6]), 4, k)
    three([0.0,3,6,9], [0.0,4,8,12], float64([0.0,2,4,6]), 4, k)
end
