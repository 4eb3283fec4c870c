% options: --loops always
big = int(1)
try
    for i=1..80
        big = big*int(3)
    end
catch e
    print e, ", ", i
end
printf("%d\n", big)
p = int(-1)
q = int(-9.3e18)
try
    for i=0..2
        q = q*p
    end
catch e
    print e
end
r = int(1)
for i=1..20
    r = i > 10 ? r*int(i) : r + int(i)
end
printf("%d\n", r)
