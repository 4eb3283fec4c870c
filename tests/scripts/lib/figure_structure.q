% needs: figures png
% devices: one
% The content of a figure, in words: lines, colours, limits, ticks, labels.
setenv("QUASAR_FIGURES", pathjoin(getenv("QUASAR_FIGURES"), "structure"))
x = linspace(0, 10, 21)
h = plot(x, x.^2, "r--", x, 10*x, "bo-")
xlabel("time (s)")
ylabel("größe")
title("Two lines")
legend("square", "ten times")
grid("on")
print h
print plot([[1,2,3],[2,3,4],[3,5,1]], "linewidth", 3, "marker", "s")
print semilogy(1..5, 10.^(1..5))
print loglog(10.^(0..4), [3,1,4,1,5])
print semilogx([1,10,100], [1,2,3])
print plot([0,1e6], [0,3e-7])
print bar([[1,2],[3,4],[5,6]])
print bar([1,2,3], [4,-1,2], "stacked", "color", "orange")
print hist([1,1,2,3,3,3,7], 3)
print hist([1,1,2,3,3,3,7], [0,2,4,8])
print scatter([1,2,3], [3,2,1], [10,20,30], [5,6,7])
print errorbar([1,2,3], [1,2,3], 0.5, "k.")
print stairs([1,2,4])
print quiver([[1,0],[0,-1]], [[0,1],[-1,0]])
[X, Y] = meshgrid(0..4, 0..3)
print contour(X, Y, X+Y, [1,3,5])
print contourf(X+Y, 4)
colorbar("height")
h = surf(X, Y, X.*Y)
zlabel("product")
zlim([0,20])
view(20, 40)
print h
print mesh(X.*Y)
h = imagesc(X.*Y)
colormap("jet")
caxis([0, 20])
colorbar()
print h
print imshow(ones(3,5,3), [0,1])
print montage({zeros(4,5), ones(4,5), ones(4,5)})
figure(40)
for k = 0..3
    subplot(2, 2, k)
    plot(k*(0..3))
    title(sprintf("part %d", k))
end
sgtitle("Four parts")
text(1, 2, "here", "color", "red")
rectangle([0.5,1,2,3], "facecolor", "#8080ff")
line([0,3], [9,0], "k:")
axis([0,4,0,10])
yticks([0,5,10])
xticks([0,2,4], {"none","some","all"})
h = figure(40)
print h
axis("equal")
axis("auto")
ylim([-1,1])
axis("off")
print h.title, h.ylabel == "", h.width, h.number
h.ylabel = "set"
print h.ylabel
% Plots replace the content of the axes of a chosen figure, and are added under hold.
figure(41)
plot([1,2])
print plot([3,4])
hold("on")
print plot([5,6])
hold("off")
% A million points are reduced to the visible ones before drawing.
h = plot(rand(1000000))
print size(h.rasterize())
function [] = fails(f)
    try
        f()
    catch e
        print e
    end
end
fails(() -> plot([1,2], "color", "notacolour"))
fails(() -> plot([1,2], "color", [1,2,3]))
fails(() -> plot([1,2], "linewidth", -1))
fails(() -> plot([1,2], "linewidth"))
fails(() -> plot([1,2], "marker", "q"))
fails(() -> plot([1,2], "linestyle", "=="))
fails(() -> plot("r"))
fails(() -> axis("round"))
fails(() -> axis([1,2,3]))
fails(() -> axis([2,1,0,1]))
fails(() -> xlim([nan,1]))
fails(() -> subplot(2,2,4))
fails(() -> subplot(0,2,0))
fails(() -> colormap("rainbow"))
fails(() -> legend("a", "location", "nowhere"))
fails(() -> grid("maybe"))
fails(() -> hist([1,2], 0))
fails(() -> hist([1,2], [3,2,1]))
fails(() -> contour([1,2,3]))
fails(() -> surf([1,2,3],[1,2],ones(3,4)))
fails(() -> scatter([1,2],[1,2,3]))
fails(() -> bar(ones(2,3), ones(3,3)))
fails(() -> imshow(ones(2,2,2)))
fails(() -> imshow(ones(2,2), [1,2,3]))
fails(() -> imagesc(complex(ones(2,2),1)))
fails(() -> montage({ones(2,2), ones(3,3)}))
fails(() -> quiver([1,2]))
fails(() -> xticks([1,2], {"a"}))
fails(() -> rectangle([1,2,3]))
fails(() -> close(77))
fails(() -> h.colour)
fails(() -> scatter([1,2], [1,2], [1,-2]))
fails(() -> errorbar([1,2], [1,2], [1,-2]))
fails(() -> bar([1,2], [1,2], 0.5))
fails(() -> hist([1,2], 2.5))
fails(() -> rectangle([1,2,-3,4]))
fails(() -> imshow(ones(2,2), [1,0]))
fails(() -> view(nan, 30))
fails(() -> quiver([1,2], [1,2], [1,2]))
fails(() -> xticks(0..300))
plot([1,2])
fails(() -> legend("a", "b"))

% Nothing beside the axes extends beyond the page, however long it is: the edges are white.
figure()
h = errorbar(0..9, sqrt(0..9), 0.2+0.03*(0..9), "o-", "label", "measured")
line(0..9, sqrt((0..9)+0.3), "k--", "label", "model")
legend()
title("A title that is longer than the figure is wide, which happens quite often in practice, too")
ylabel("a long label of an axis, which is longer than the axis itself")
xticks(0..9, {"January","February","March","April","May","June","July","August","September","October"})
page = h.rasterize()
[rows, columns] = size(page, 0..1)
print all(page[:,0..1,:] == 255), all(page[:,columns-2..columns-1,:] == 255), all(page[0..1,:,:] == 255), _
      all(page[rows-2..rows-1,:,:] == 255)

% A text may extend beyond its axes; a text whose position is outside is not drawn.
figure()
subplot(1, 2, 0)
plot(0..10)
axis([0,10,0,10])
text(-3, 5, "outside", "color", "green")
h = text(8, 5, "beyond the axes", "color", "red")
page = h.rasterize()
green = page[:,:,1] > page[:,:,0] + 60
red = page[:,:,0] > page[:,:,1] + 60
print any(red[:,size(page,1)/2..size(page,1)-1]), any(green && page[:,:,1] > page[:,:,2] + 60)

% There is room for half a line above and below a colour bar beside an image; the image keeps its pixels.
figure()
h = imshow(repmat(0..255, 256, 1), [0,255])
colorbar()
page = h.rasterize()
print size(page)
for row = [0,7,8,263,264,271]
    print all(page[row,0..255,:] == 255), all(page[row,300..345,:] == 255)
end

% Images in colour and in grey side by side; true is white.
h = montage({repmat(100, 4, 5), cat(2, 200*ones(4,5,1), zeros(4,5,2)), ones(4,5) > 0})
fails(() -> montage({ones(4,5,3), ones(4,5,4)}))
page = h.rasterize()
[rows, columns] = size(page, 0..1)
print page[2,2,:], page[2,columns-2,:], page[rows-2,2,:]
print imshow(ones(3,3) > 0).rasterize()[0,0,0]

% A white image beside other axes has an edge; a single white image has none.
print all(imshow(255*ones(40,40)).rasterize() == 255)
figure()
subplot(1, 2, 0)
h = imshow(255*ones(40,40))
subplot(1, 2, 1)
axis("off")
page = h.rasterize()
dark = float(page[:,:,0] < 128)
print any(page < 128), " ", sum(max(dark, [], 1)), " x ", sum(max(dark, [], 0)), " ", all(page[:,0,:] == 255)
axis("off")

% the handle of an empty figure stays valid when its axes become a subplot
h = figure()
s = subplot(1,2,0)
plot([1,2,3])
s = subplot(1,2,1)
plot([3,2,1])
print sum(size(h.rasterize())) > 3
close(h)

% A handle selects its figure as the number does.
a = figure()
b = figure()
figure(a)
title("first")
print figure(a).title, " ", figure(b).title == "", " ", figure(b).number - figure(a).number
fails(() -> figure({}))
