% exit: 1
f = 3
if f
    f = 4
finally
    f = 5
end
