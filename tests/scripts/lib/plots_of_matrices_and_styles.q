% needs: figures png
% devices: one
% A matrix is a line for each column; lines may be dashed, marks differ, and letters beyond ASCII are drawn.
setenv("QUASAR_FIGURES", pathjoin(getenv("QUASAR_FIGURES"), "styles"))
function n = pixels(h, colour)
    img = float(h.rasterize())
    n = sum((img[:,:,0] == colour[0]).*(img[:,:,1] == colour[1]).*(img[:,:,2] == colour[2]))
end
function n = dark(h)
    img = float(h.rasterize())
    n = sum(img[0..40,:,0] < 128)
end
red = [214,39,40]
h = plot([[1,2,3],[2,3,4],[3,5,1],[0,1,1]])
print "a colour for each column", pixels(h,[0,114,189]) > 100, pixels(h,[217,83,25]) > 100, pixels(h,[90,150,40]) > 100, pixels(h,[126,47,142])
y = linspace(0,1,100)
whole = pixels(plot(y, "r"), red)
part = pixels(plot(y, "r--"), red)
dots = pixels(plot(y, ":r"), red)
print "dashes and dots", whole > 1.2*part, part > 1.2*dots, dots > 50
marks = zeros(13)
k = 0
for style = {"r.", "ro", "rx", "r+", "r*", "rs", "rd", "r^", "rv", "r<", "r>", "rp", "rh"}
    marks[k] = pixels(plot(0..9, style, "markersize", 12), red)
    k += 1
end
print "marks that differ", numel(unique(marks)) >= 8, all(marks > 20)
h = plot(y)
title("Gr e")
plain = dark(h)
title("Größe σ")
print "letters beyond ASCII", dark(h) > plain + 20
for style = {"q!", "--:", "rb", "ox"}
    try
        plot(y, style)
    catch e
        print e
    end
end
try
    plot([1,2,3], rand(2,3))
catch e
    print e
end
try
    plot(rand(2,2,2))
catch e
    print e
end
