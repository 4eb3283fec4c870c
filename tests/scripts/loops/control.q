% options: --loops always
function y = first_above(x, limit)
    y = -1
    for i=0..numel(x)-1
        if x[i] > limit
            y = i
            break
        end
    end
end
print first_above([1,5,9,2], 4), " ", first_above([1,2], 4)

function r = collatz(n)
    r = 0
    while n != 1
        if mod(n,2) == 0
            n = n/2
        else
            n = 3*n + 1
        end
        r += 1
    end
end
longest = 0
for i=1..50
    c = collatz(i)
    if c > longest
        longest = c
    end
end
print longest

function y = clipped(x)
    if x < 0
        y = 0
        return
    end
    if x > 1
        y = 1
        return
    end
    y = x
end
s = 0
for i=-10..20
    s += clipped(i/10)
end
printf("%.4f\n", s)

odd = 0
for i=0..99
    if mod(i,2) == 0
        continue
    end
    odd += i
end
print odd

n = 0
for [i,j,k]=0..[3,3,3]
    if i == 2 && j == 1
        break
    end
    if k == 2
        continue
    end
    n += 1
end
print n, " ", i, j, k

r = 0
for i=1..5
    j = 0
    repeat
        j += 1
        if j == 3
            continue
        end
        r += j
    until j >= i
end
print r

for i=0..4
    t = i*i
end
print t, " ", i

for i=0..3
    for j=0..i
        u = i*10 + j
    end
end
print u, " ", j
