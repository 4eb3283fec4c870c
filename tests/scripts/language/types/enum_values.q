% Constants of an enum may be numeric expressions; the next one is the previous one plus 1.
type color : enum
    red = 2*3
    green
    blue = -1
    black
end
print red, ",", green, ",", blue, ",", black
