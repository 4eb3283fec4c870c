% needs: figures
% devices: one
% Items without room shrink or are cut off; nan is not drawn; unknown properties are errors.
function [] = fails(f)
    try
        f()
        print "nothing is wrong"
    catch e
        print e
    end
end

% Names that are too long for the axes are cut off at the end: a legend stays within its axes.
function page = three_axes(names)
    figure()
    for k = 0..2
        subplot(1, 3, k)
        h = plot([0,1], [0,1])
        axis([0,1,0,1])
        if names
            legend("a name that is far longer than these axes are wide, and than letters of any size could be")
        end
    end
    page = float(h.rasterize())
end
function k = columns_of(row)      % the columns in which it is true
    places = find(row)
    k = reshape(places[:,1], size(places, 0))
end
bare = three_axes(false)
named = three_axes(true)
[rows, columns] = size(bare, 0..1)
changed = columns_of(max(max(abs(named-bare), [], 2), [], 0) > 0)
axes = columns_of(sum(max(bare, [], 2) < 60, 0) > 0.7*rows)     % upright lines of frames
print numel(changed) > 100, all(changed > axes[0] && changed < axes[numel(axes)-1]), " legends"
for k = 0..2       % and none is beside the frame of its axes
    own = axes[axes > k*columns/3 && axes < (k+1)*columns/3]
    print !any(changed > k*columns/3 && changed < min(own)), !any(changed > max(own) && changed < (k+1)*columns/3)
end
for names = {"southwest", "eastoutside"}
    figure()
    h = plot(rand(5,40))
    for k = 1..40
        line([0,1], [k,k], "label", sprintf("the name of line %d, which nobody reads to its end", k))
    end
    legend("location", names)
    page = h.rasterize()
    print all(page[:,size(page,1)-4..size(page,1)-1,:] == 255), all(page[size(page,0)-4..size(page,0)-1,:,:] == 255)
end

% The background is visible at nan.
for img = {[[nan,0],[inf,1]], repmat([[nan,0],[1,0]], [1,1,3])}
    figure()
    h = imshow(img, [0,1])
    p = h.rasterize()
    n = size(p, 0)-1
    print p[0,0,:], p[0,n,:], p[n,0,:]
end
figure()
h = imagesc([[nan,1],[2,3]])
p = float(h.rasterize())
[rows, columns] = size(p, 0..1)
print p[floor(rows/3),floor(columns/3),:], p[floor(rows/3),floor(2*columns/3),:]
figure()
h = scatter([0,1,2], [0,1,2], 400, [1,nan,2])
p = float(h.rasterize())
print p[floor(size(p,0)/2),floor(size(p,1)/2),:]
% Pixel counts are integers.
print imagesc(reshape(0..99, [10,10]))
fails(() -> plot(1..3, "linewith", 2))
fails(() -> plot(1..3, "r", "lw", 3))
fails(() -> scatter(1..3, 1..3, "makersize", 5))
% Ticks that differ only in distant digits share a common offset label; there are at least two ticks.
u = float64(linspace(0, 1, 20))
far = {float64(1e6)+u*0.01, float64(12345.678)+u*float64(1e-6), -98765-u, float64(1e20)+u*1e15, float64(1.5)+u*float64(1e-9), 2000+20*u, 0*u}
for k = 0..numel(far)-1
    figure()
    print plot(u, far[k])
end
% The colour bar of filled areas shows the levels that they show.
figure()
h = contourf([[0,1,2,3],[0,1,2,3]], [0,1,2])
colorbar()
p = float(h.rasterize())
coloured = max(p, [], 2)-min(p, [], 2) > 60
codes = unique(reshape((p[:,:,0]*65536+p[:,:,1]*256+p[:,:,2]).*coloured, numel(coloured)))
print numel(codes) > 3, numel(codes) < 20
% Levels among numbers that double precision barely distinguishes, or that have no powers of ten.
print contour(float64([[1e16,1e16+2],[1e16+4,1e16+8]]))
print contour(float64([[1e-323,1.5e-323],[1e-323,1e-323]]))
print semilogy(float64([1e-323,1e-320]))
fails(() -> scatter([1,2], [2,3], [1,inf]))
fails(() -> scatter([1], [2], 1e30))
fails(() -> surf(zeros(3,0)))
% Images without room, or of more room than there is, leave the rest of the figure as it is.
function [] = is_drawn(h, x, y)
    xlim(x)
    ylim(y)
    p = h.rasterize()
    print min(p[:]) < 100
end
print imagesc(2^62, -2^63, 5)
figure()
is_drawn(imagesc(rand(10,10)), float64([0,1e300]), [0,1])
figure()
is_drawn(imagesc(rand(10,10)), [0,1], float64([0,1e-310]))
