function y = shout(x)
    print "called"
    y = x
end
print false && shout(true)
print true || shout(true)
print true && shout(true)
