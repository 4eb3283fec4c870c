% A name of an element type among the sizes: the messages name the conversion.
for f in {() -> zeros(3, 3, "uint8"), () -> zeros([3,3], "single"), () -> rand(2, "double"), () -> ones(2, dtype:=1)}
    try
        f()
    catch e
        print e.message
    end
end
