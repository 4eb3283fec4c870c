function n = build(count)
    n = 0
    for i = 1..count
        s = "item " + i + ":" + (i*2)
        n += strlen(s)
    end
end
print build(1000000)
