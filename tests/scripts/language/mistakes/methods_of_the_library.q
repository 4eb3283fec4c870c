% A method call of a library function whose file is not loaded is an error that names the import.
x = ones(3, 3)
for f = {() -> x.imresize(2), () -> x.imresiz(2), () -> {1}.dct2(), () -> x.nothing_like_it()}
    try
        f()
    catch e
        print e
    end
end
