for i = 0..1
for j = 0..1
    print i, j
end
end
