function [] = show(first, ...rest)
    print first, " ", numel(rest)
    for k = 0..numel(rest)-1
        print rest[k]
    end
end
show(1)
show(1, "a", [2,3])
