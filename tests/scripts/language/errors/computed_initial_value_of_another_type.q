% exit: 1
name = "a"
type box : class
    n : int = name
end
