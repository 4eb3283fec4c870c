% A method call loads a library function whose file is not imported; a misspelt one is an error.
x = ones(3, 3)
print size(x.imresize(2))
for f = {() -> x.imresiz(2), () -> x.nothing_like_it()}
    try
        f()
    catch e
        print e
    end
end
