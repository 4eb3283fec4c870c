% Loops inside interpreted ones append to lists: the items that there are already are not copied again and again.
names = dict()
list = {}
for i = 0..299
    names[f"k{i}"] = i
    for k = 0..1999
        append(list, i*8.0 + k)
    end
end
print numel(list), " ", list[599999], " ", numel(names)
for i = 0..299
    names[f"k{i}"] = i
    k = 0
    while k < 2000
        append(list, i*8.0 + k)
        k += 1
    end
end
print numel(list), " ", list[1199999], " ", list[600000]
