n = 2
for i = 0..n
    n = 10
end
print i, " ", n
for i = 3..-1..1
    print i
end
for x = 0..0.25..0.5
    print x
end
