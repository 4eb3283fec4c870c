% part
print "library loaded"
limit = 10
function y = scaled(x)
    y = x*limit
end
function [] = main()
    print "main of the library must not run"
end
