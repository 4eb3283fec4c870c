% The constants of an enum can be qualified with the name of its type.
type color : enum
    red
    green = 4
    blue
end
function y = mix(c : color)
    match c with
    | color.red -> y = "warm"
    | color.green -> y = "fresh"
    | _ -> y = "cold"
    end
end
function [] = __kernel__ paint(y : vec, pos : int)
    y[pos] = pos == 1 ? color.green : color.blue
end
print color.red, color.green, color.blue, " ", color.blue - color.green, " ", -color.blue^2
print mix(color.green), " ", mix(blue), " ", mix(color.red)
c : color = color.blue
print c == blue, " ", [color.red, color.blue]
y = zeros(3)
parallel_do(3, y, paint)
print y
s = 0
for i = color.red..color.blue
    s += i*color.green
end
print s
try
    eval("print color.purple")
catch e
    print e
end
try
    eval("print color.gren")
catch e
    print e
end
function [] = f()
    color = object()
    color.red = 17
    print color.red
end
f()
