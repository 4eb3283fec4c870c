if true
    print 1
end
if false
    print 0
elseif true
    print 2
else
    print 0
endif
for i=0..1
    print i
endfor
for i=0..0
    print i
end
k = 0
while k < 2
    k += 1
endwhile
while (k < 4)
    k += 1
end
print k
match k with
| 4 -> print "four"
endmatch
match k with
| 5 -> print "five"
| _ -> print "other"
end
function y = f(x)
    y = x
endfunction
print f(7)
repeat
   k -= 1
until k == 0
print k
