local function build(count)
    local n = 0
    for i = 1, count do
        local s = "item " .. i .. ":" .. (i*2)
        n = n + #s
    end
    return n
end
print(build(1000000))
