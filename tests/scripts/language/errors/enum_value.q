% exit: 1
type color : enum
    red = 1.5
    green = numel([1,2])
    blue = "a"
end
