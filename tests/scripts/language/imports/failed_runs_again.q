% An import that stopped with an error is not marked as run: the next import runs it again.
for i = 1..2
    try
        import "cycle/fails.q"
    catch e
        print "failed ", i
    end
end
