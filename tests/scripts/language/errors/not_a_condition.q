% exit: 1
if "text"
    print 1
end
