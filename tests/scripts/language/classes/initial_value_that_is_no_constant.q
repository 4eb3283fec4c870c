% exit: 1
pi = 3
type window : class
    size : vec = [1,2]
    half : scalar = pi
end
print window()
