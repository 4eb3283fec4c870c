% File name extensions of other formats are errors; no file is written.
for name = {"made/x.txt", "made/x.CSV", "made/x.png"}
    try
        save(name, [1,2])
    catch e
        print e
    end
end
try
    print sprintf("%q", 3)
catch e
    print e
end
try
    print sprintf("%z", 3)
catch e
    print e
end
