% needs: figures png
% devices: one
% Figures without a display are files in a folder, written when the program is idle.
folder = pathjoin(getenv("QUASAR_FIGURES"), "folders", "that are made")
setenv("QUASAR_FIGURES", folder)
h = imshow(ones(4,4)*100)
h.connect(h)
imshow(ones(4,4,3), [0,1])
imshow([[1,2],[3,4]], [])
title("t")
plot([1,2,3])
plot([1,2,3],[3,1,2],"r")
legend("a")
print hold("on"), hold("off")
print numel(listdir(folder)), h.number
repeat
    rounds = 1
until !hold("on")
hold("off")
pause(1)
pause()
sync_framerate(30)
run_gui()
print rounds
try
    form("window")
catch e
    print "form: an error without a display"
end
h = plot(0..9)
drawnow()
drawn = imread(pathjoin(folder, sprintf("figure_%04d.png", h.number)))
print size(drawn), max(abs(float(h.rasterize()) - drawn))
for name = {"a.svg", "a.pdf", "a.png"}
    saveas(h, pathjoin(folder, name))
end
svg = fileread(pathjoin(folder, "a.svg"))
print strfind(svg, "<svg") >= 0, startswith(fileread(pathjoin(folder, "a.pdf")), "%PDF")
try
    saveas(pathjoin(folder, "a.gif"))
catch e
    print strrep(e, folder, "FOLDER")
end
% A single image is shown pixel by pixel, or magnified if it is small.
img = mod(reshape(0..300*200*3-1, [200,300,3]), 251)
h = imshow(img)
print size(h.rasterize()), max(abs(float(h.rasterize()) - img))
h = imshow([[0,255],[255,0]])
p = h.rasterize()
print size(p), p[0,0,0], p[0,255,0], p[255,0,1], p[255,255,2]
title("above")
print size(h.rasterize())
% Under hold an image replaces the previous one, in the same figure.
hold("on")
n = h.number
h = imshow([[255,255],[0,0]])
p = h.rasterize()
print h.number == n, p[100,10,0], p[260,10,0]
hold("off")
close("all")
try
    h.title = "gone"
catch e
    print e
end
% Malformed UTF-8, as from a file of other characters, is shown as U+FFFD; pango wrote a message to stderr.
other = pathjoin(folder, "latin.txt")
f = fopen(other, "w")
fwrite(f, uint8([71,114,246,223,101]))
fclose(f)
plot([1,2])
title(fileread(other))
xlabel("x^{" + fileread(other) + "}")
saveas(pathjoin(folder, "latin.png"))
print strlen(fileread(other)), " ", isfile(pathjoin(folder, "latin.png"))
