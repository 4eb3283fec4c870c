% options: --loops always
% A slice of no elements or several, whose length no guard can test, does not fit a selection of one element.
function [] = subtract(n, least, most)
    A = zeros(3,n)
    y = [1,2,3,4,5]
    try
        for i = 0..2
            for j = 0..1
                A[i,:] -= (y[j+least..j+most]*2)*0.5
            end
        end
    catch e
        print e
    end
    print A
end
function [] = set(n, least, most)
    A = zeros(3,n)
    y = [1,2,3,4,5]
    try
        for i = 0..2
            for j = 0..1
                k = floor(y[j])
                A[i,:] = (A[i,:] + y[k+least..k+most])*0.5
            end
        end
    catch e
        print e
    end
    print A
end
for n = [1,2]
    subtract(n, 0, -1)
    subtract(n, 0, 0)
    subtract(n, 1, 2)
    set(n, 0, -1)
    set(n, 0, 0)
    set(n, 0, 1)
end
% The results of functions are arrays of their own, until variables share them.
function v = moved(v, k)
    v = v + k
end
function [] = share()
    a = float64([0,3,6])
    b = [0,6,12]
    d = [0,2,4]
    for i = 0..4
        d = b
        b = moved(a, i)
        if mod(i, 4) == 0
            d = b
        end
    end
    d[0] = 1000
    print a, b, d
end
share()
