% exit: 1
function [] = g()
    eval("print undefinedthing")
end
try
    g()
catch e
    print e
end
g()
