% constants of an enum may be expressions of numbers; the next one counts on
type color : enum
    red = 2*3
    green
    blue = -1
    black
end
print red, ",", green, ",", blue, ",", black
