% A choice between two truth values is a truth value, in every notation: its bits are 0 and 1.
function [] = __kernel__ choose(a : vec, y : mat, pos : int)
    few = a[pos] > 2 ? a[pos] > 3 : a[pos] > 1
    y[0,pos] = not(few)
    read = a[pos] > 2 ? a[max(pos-1,0)] > 2 : a[pos] > 1
    y[1,pos] = not(read)
    if a[pos] > 2
        set = a[pos] > 3
    else
        set = a[pos] > 1
    end
    y[2,pos] = not(set)
    found = false
    for i = 0..3
        if a[i] == a[pos]
            found = true
        end
    end
    y[3,pos] = not(found)
    both = [a[pos] > 1, a[pos] > 2] ? [a[pos] > 3, true] : [true, a[pos] > 1]
    y[4,pos] = not(both[0]) + 2*not(both[1])
    number = a[pos] > 2 ? a[pos] > 3 : 7
    y[5,pos] = not(number)
end

function y = host(a : vec)
    y = zeros(6, 4)
    for k = 0..3
        y[0,k] = not(a[k] > 2 ? a[k] > 3 : a[k] > 1)
        y[1,k] = not(a[k] > 2 ? a[max(k-1,0)] > 2 : a[k] > 1)
        y[2,k] = y[0,k]
        y[4,k] = not(a[k] > 1 ? a[k] > 3 : true) + 2*not(a[k] > 2 ? true : a[k] > 1)
        y[5,k] = a[k] > 2 ? not(int(a[k] > 3)) : not(int(7))
    end
end

a = [1,2,3,4]
y = zeros(6, 4)
parallel_do(4, a, y, choose)
print y
print sum(abs(y - host(a)))
