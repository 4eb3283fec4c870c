% exit: 1
width = 3
type window : class
    size : vec = [width,width]
end
print window()
