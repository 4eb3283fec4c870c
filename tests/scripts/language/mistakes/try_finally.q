% exit: 1
f = 3
try
    f = 4
finally
    f = 5
end
