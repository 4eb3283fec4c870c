for i = 0..9
    if i == 1
        continue
    end
    if i == 4
        break
    end
    print i
end
k = 0
while true
    k += 1
    if k > 3
        break
    end
end
print k
repeat
    k += 1
    if k == 6
        break
    end
until false
print k
