% Functions that call themselves from within a loop; min and max of ints and float32 elements.
% options: --loops always
function y = powers(n)
    y = n
    for k = 1..n
        y += powers(n-k)
    end
end
print powers(12)
function y = sums(x, n)
    y = 0
    for v in x
        y += v
    end
    if n > 0
        y += sums(x, n-1)
    end
end
print sums([1,2,3], 3)
function n = placed(row, columns, left, right)
    n = 0
    if row == 5
        n = 1
    else
        for c = 0..4
            if and(columns, shl(1, c)) == 0 && and(left, shl(1, row+c)) == 0 && and(right, shl(1, row-c+5)) == 0
                n += placed(row+1, columns + shl(1, c), left + shl(1, row+c), right + shl(1, row-c+5))
            end
        end
    end
end
print placed(0, 0, 0, 0)
function a = smallest(x, k)
    a = zeros(1, numel(x))
    for j = 0..numel(x)-1
        if k[0] > 0
            m = k[0]
        else
            m = k[1]
        end
        a[j] = min(x[j], m) == m
    end
end
print smallest([16777224,3], int64([16777221,5]))
A = reshape(0..5, [3,2])
function y = centered(A)
    y = A - mean(A + 0, 0)
end
print centered(A)
function y = total(A)
    y = sum(A > 1, 0)
end
print total(A)
B = int([1]) + 1
print max(B,[],1) > where((B > 1 ? 7 : B) != 0, 3, max(B,[],1))
