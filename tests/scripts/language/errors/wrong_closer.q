% exit: 1
if true
    print 1
endfor
