% A function of the library that is called as a method, whose file is not loaded, is told with the import that brings it.
x = ones(3, 3)
for f = {() -> x.imresize(2), () -> x.imresiz(2), () -> {1}.dct2(), () -> x.nothing_like_it()}
    try
        f()
    catch e
        print e
    end
end
