% Masks read and assign the same elements as a loop: every length, element type, density of the mask, and strided arrays.
function [] = check(name, got, x, at, n)
    if numel(got) != n
        print name, ": ", numel(got), " elements instead of ", n
    else
        for i = 0..n-1
            if got[i] != x[at[i]]
                print name, ": element ", i, " is ", got[i], " instead of ", x[at[i]]
                break
            end
        end
    end
end
function [] = all_forms(name, x, m)
    n = numel(x)
    picked = x[m]
    at = zeros(n)
    k = 0
    for i = 0..n-1
        if m[i] ? true : false
            at[k] = i
            k += 1
        end
    end
    check(strcat(name, " read"), picked, x, at, k)
    one = copy(x)
    one[m] = 7
    next = copy(x)
    next[m] = flip(picked, 1)
    beside = copy(x)
    beside[m] += picked
    wanted = {copy(x), copy(x), copy(x)}
    for i = 0..n-1
        at[i] = i
        if m[i] ? true : false
            k -= 1
            wanted[0][i] = 7
            wanted[1][i] = picked[k]
            wanted[2][i] = x[i] + x[i]
        end
    end
    check(strcat(name, " one"), one, wanted[0], at, n)
    check(strcat(name, " next"), next, wanted[1], at, n)
    check(strcat(name, " updated"), beside, wanted[2], at, n)
end
for n = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 100, 255, 256, 300}
    for part = {0, 1, 3, 5, 6}
        v = mod((0..n-1)*7, 50)
        m = mod((0..n-1)*5 + n, 6) < part
        for x = {float32(v), float64(v), int(v), int64(v), uint8(v), int16(v), complex(v, v), complex64(complex(v, v))}
            all_forms(strcat(type(x), " ", string(n), " ", string(part)), x, m)
        end
        two = reshape(repmat(v, [2,1]), [2*n])
        all_forms(strcat("every second ", string(n)), two[0..2..2*n-1], m)
    end
end
% matrices and cubes, in rows and in strided parts
x = reshape(mod((0..719)*7, 100), [10,72])
y = copy(x)
y[y > 50] = 50
print sum(y), " ", max(y), " ", numel(x[x > 50]), " ", sum(x[x > 50])
c = reshape(mod((0..719)*7, 100), [6,10,12])
c[c < 10] += 1000
print sum(c), " ", numel(c[c > 500])
part = x[1..8,3..2..60]
print size(part[part > 20]), " ", sum(part[part > 20])
% a mask that is assigned by itself
m = x > 20
m[m] = false
print any(m)
% errors and the warning stay
try
    x[x > 50] = [1,2,3]
catch e
    print e
end
