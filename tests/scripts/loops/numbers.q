% options: --loops always
% Numbers behave the same in compiled and in interpreted loops.
function [] = show(name, x)
    print name, " ", x
end

s = 0
for i=1..10
    s = s + i/4
end
show("sum", s)

p = 1
for i=1..30
    p = p*i
end
show("beyond int64", p)

z = 1
for i=0..3
    z = i*(-1)
end
show("a zero has a sign", 1/(z*0))

big = 9007199254740992
for i=1..3
    big = (big + 1)*1
end
show("rounded as doubles are", big)

k : int = 7
n = 0
for i=1..5
    k = k + i/2
    n += k
end
show("ints are cut off", k)
show("their sum", n)
for i=1..3
    k = k + 2147483640
end
show("and end at 32 bits", k)
j = int(1)
for i=1..40
    j = j + j
end
show("those without a type do not", j)

found = false
for i=0..9
    if i*i == 49
        found = true
    end
end
show("a truth value", found)

q = 0
for i=-3..3
    q = q*10 + mod(i, 4)
end
show("mod", q)

e = 0
for x=0..0.1..1
    e += 1
end
show("turns of a fractional step", e)
show("its last value", x)

d = 0
for i=10..-3..0
    d = d*100 + i
end
show("downwards", d)

w = 0
for i=1..5
    w = w + (i > 2 ? i^2 : -i) + (i == 3 && w < 0) + min(i, 3) - max(i, 4) + abs(1-i) + sign(2-i)
end
show("operators", w)

h = 0
for i=5..1
    h = 1
end
show("no turn at all", h)
