% needs: figures
% devices: one
% Properties by name and value, in any case of letters: lines, texts, labels, legends and colour bars.
function [] = fails(f)
    try
        f()
        print "nothing is wrong"
    catch e
        print e
    end
end
h = plot(1..3, "LineWidth", 3, "Color", "#8040c0", "DisplayName", "up", 3..-1..1, "o--", "MarkerSize", 4, "Color", [0,0.5,1])
title("Both", "FontSize", 20, "FontWeight", "bold", "Color", "r")
xlabel("time", "FontSize", 14)
ylabel("height", "Color", [0,0,1])
legend({"up", "down"}, "Location", "southwest", "FontSize", 14, "TextColor", "gray", "fontweight", "bold")
text(1, 2, "here", "FontSize", 30, "HorizontalAlignment", "center", "Color", "g")
sgtitle("Above", "FontWeight", "normal")
print h
h.title("Plain")
h.legend("location", "best")
print h
h = surf(ones(3,3))
zlabel("z", "FontSize", 7)
colorbar("bar", "FontSize", 18)
print h
clear_of_letters = plot(1..3)
print clear_of_letters

% Larger letters get more room beside the axes, and stay on the page.
function n = columns_beside(points)
    figure()
    h = plot(0..1)
    ylabel("y", "FontSize", points)
    page = h.rasterize()
    n = find(sum(float(page[:,:,0] < 60), 0) > 500)[0,1]      % the frame
end
print columns_beside(10) == columns_beside(9) || columns_beside(10) > columns_beside(9), _
      columns_beside(40)-columns_beside(10) > 60

% The alignment is the side of a text that is at its position.
function n = left_of(side)
    figure()
    h = plot([0,2], [0,0], "color", "w")
    text(1, 0, "mmmmmmmm", "Color", "r", "HorizontalAlignment", side)
    page = h.rasterize()
    red = page[:,:,0] > page[:,:,1] + 100
    half = size(page,1)/2
    n = round(10*sum(red[:,0..half])/sum(red))
end
[l, c, r] = [left_of("left"), left_of("center"), left_of("right")]
print l < c, c < r

plot(1..3)
fails(() -> title("a", "FontSiz", 12))
fails(() -> title("a", "b"))
fails(() -> title("a", "FontSize", 0))
fails(() -> title("a", "FontSize", "large"))
fails(() -> title("a", "FontSize"))
fails(() -> title("a", 12))
fails(() -> xlabel("a", "LineWidth", 2))
fails(() -> ylabel("a", "Color", "nocolour"))
fails(() -> zlabel("a", "FontWeight", "thick"))
fails(() -> sgtitle("a", "FontSize", nan))
fails(() -> text(1, 1, "a", "HorizontalAlignment", "middle"))
fails(() -> text(1, 1, "a", "Margin", 3))
fails(() -> text(1, 1, "a", "r--"))
fails(() -> plot(1..3, "FontSize", 12))
fails(() -> plot(1..3, "DisplayName", 12))
fails(() -> plot(1..3, "Color", [1,2]))
fails(() -> scatter(1..3, 1..3, "LineStyl", "-"))
fails(() -> legend("a", "FontSize", -1))
fails(() -> legend("FontSiz", 12))
fails(() -> legend("a", "Location", "north"))
fails(() -> legend({"a", 5}))
fails(() -> legend({"a", "b"}))
fails(() -> legend(3))
fails(() -> colorbar("a", "Ticks", 3))
fails(() -> colorbar(3))

% The pixels of the current figure, of a handle and of a number; frames of an animation have one size.
close("all")
fails(() -> getframe())
first = plot([0,1], [0,1], "color", "r")
before = getframe()
second = plot([0,1], [1,0], "color", "r")
print size(before)
print any(before != getframe()), all(before == getframe(first)), all(getframe(second.number) == second.rasterize())
fails(() -> getframe(12345))
