local s = 0.0
for i = 1, 20000000 do
    s = s + i*0.5
end
print(s)
