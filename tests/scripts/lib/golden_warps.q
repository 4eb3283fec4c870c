% Rotated, shifted and warped images agree with SciPy: tests/goldens/make.py.
import "imwarp.q"
g = load("tests/goldens/warps.npz")
function [] = check(name, got, wanted)
    print name, " ", allclose(got, wanted, 1e-4, 1e-5)
end
for mode = {"clamped", "mirror", "mirror_nr", "circular", "zeros"}
    check(mode, imremap(g.z, g.rows, g.columns, "bilinear", mode), getfield(g, mode))
end
check("nearest", imremap(g.z, g.rows, g.columns, "nearest", "clamped"), g.nearest)
check("bicubic", imremap(g.z, g.rows, g.columns, "bicubic"), g.bicubic)
check("imwarp", imwarp(g.z, g.affine[0..1,:]), g.moved)
check("projective", imwarp(g.z, g.bent), g.projected)
check("affine_transform", affine_transform(g.z, g.affine[0..1,0..1], [1.5,-0.5], [9,8], "bilinear", "zeros", 3), g.pulled)
check("imrotate", imrotate(g.z, 33), g.turned)
check("crop", imrotate(g.rgb, -70, "bilinear", "crop", 2), g.cropped)
check("shift", shift(g.z, [1.3,-2.6], "bilinear", "mirror"), g.shifted)
check("imtranslate", imtranslate(g.z, [-2.6,1.3], "bilinear", "mirror"), g.shifted)
check("zoom", zoom(g.z, [1.7,0.6]), g.zoomed)
% Four turns by 90 degrees lose nothing, integers become scalar, nan marks what lies outside.
m = uint8([[1,2,3],[4,5,250]])
print imrotate(m, 90), imrotate(m, -450), type(imrotate(g.z, 10)), sum(isnan(imrotate(m, 45, "nearest", "loose", nan)))
% Points determine the transform that moved them.
a = float64([[0,0],[10,1],[3,12],[9,14],[5,4]])
q = horzcat(a, ones(5,1))*transpose(g.bent)
check("projective points", fitgeotrans(a, q[:,0..1]./q[:,2], "projective"), g.bent)
check("affine points", fitgeotrans(a, (horzcat(a, ones(5,1))*transpose(g.affine))[:,0..1]), g.affine)
t = float64([[0.6,-0.8,2],[0.8,0.6,-1],[0,0,1]])
check("similar points", fitgeotrans(a, (horzcat(a, ones(5,1))*transpose(t))[:,0..1], "similarity"), t)
print fitgeotrans(a, a + [2,3], "translation")
% Derivatives reach the image.
print grad(x -> sum(shift(x, [0.5,0], "bilinear", "clamped").*[[1,2],[3,4]]), ones(2,2))
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> imrotate(m, inf))
attempt(() -> imrotate(m, 3, "cubical"))
attempt(() -> imrotate(m, 3, "nearest", "tight"))
attempt(() -> imrotate(zeros(0,3), 3))
attempt(() -> shift(m, 1))
attempt(() -> zoom(m, 0))
attempt(() -> imwarp(m, eye(4)))
attempt(() -> imwarp(m, zeros(3,3)))
attempt(() -> imwarp(m, eye(3), [0,2]))
attempt(() -> affine_transform(m, ones(2,2), [1]))
attempt(() -> affine_transform(m, eye(2), [0,0], [2,2], "bilinear", "wrap"))
attempt(() -> imremap(m, [1,2], [1]))
attempt(() -> fitgeotrans(a, a[0..2,:]))
attempt(() -> fitgeotrans(a[0..2,:], a[0..2,:], "projective"))
print isequal(imrotate(ones(4,5), 10, "cubic"), imrotate(ones(4,5), 10, "bicubic")), isequal(shift(ones(4,5), [0.5,0], "linear"), shift(ones(4,5), [0.5,0]))
% A grey image is sampled by interp2 inside of zeros, images with channels by a kernel
x = rand(9,11)
rows = 14*rand(20,30) - 3
columns = 17*rand(20,30) - 3
rows[0,0..3] = [nan,inf,-inf,8]
columns[0,3..6] = [10,nan,1e30,-1e30]
both = imremap(cat(2, x, x), rows, columns, "bilinear", "zeros", 0.5)
print max(abs(both[:,:,1] - imremap(x, rows, columns, "bilinear", "zeros", 0.5))) < 1e-6
slope = (v, r, c) -> grad(w -> sum(imremap(w, r, c).*rows[1..19,:]), v)
print max(abs(slope(cat(2, x, x), rows[1..19,:], columns[1..19,:])[:,:,1] - slope(x, rows[1..19,:], columns[1..19,:]))) < 1e-4
