% needs: png
h = imshow(ones(4,4)*100)
h.connect(h)
imshow(ones(4,4,3), [0,1])
imshow([[1,2],[3,4]], [])
title("t")
plot([1,2,3])
plot([1,2,3],[3,1,2],"r")
legend("a")
print hold("on"), hold("off")
repeat
    rounds = 1
until !hold("on")
pause(1)
pause()
sync_framerate(30)
print rounds
try
    form("window")
catch e
    print e
end
made = pathjoin(getenv("QUASAR_FIGURES"), "folders", "that are made")
setenv("QUASAR_FIGURES", made)
plot([1,2,3])
print numel(listdir(made))
