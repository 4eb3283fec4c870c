% What an import ran is not taken as run when it stopped with an error: the next import runs it again.
for i = 1..2
    try
        import "cycle/fails.q"
    catch e
        print "failed ", i
    end
end
