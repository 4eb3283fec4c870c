% exit: 3
print "before"
try
    exit(3)
catch e
    print "never"
end
print "never"
