local n = 1000000
local x = {}
for i = 0, n-1 do x[i] = 0.0 end
for k = 1, 10 do
    for i = 1, n-1 do
        x[i] = x[i-1]*0.5 + i
    end
end
print(x[n-1] > 0)
