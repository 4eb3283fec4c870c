% Transforms as pairs of functions, wavelets by the names that programs use, bands that are changed in place.
import "multirestransforms.q"
near = (a,b) -> max(abs(a-b)) < 1e-5
function e = energy(W)
    e = 0
    for band = lincell(W)
        e += squared_norm(band)
    end
end
function [] = show(name, x, S, S_H)
    W = S(x)
    y = S_H(W)
    bands = lincell(W)
    close = type(x) == "mat" ? 1e-5 : 1e-13
    print name, ": ", max(abs(y-x)) < close, " ", type(y), " ", numel(bands), " ", size(bands[0]), size(bands[numel(bands)-1])
end
randseed(3)
x = randn(32,48)
exact = float64(randn(32,48))
% filters: orthonormal, with their vanishing moments, and of equal length
print numel(db8), " ", abs(sum(db8)-sqrt(2)) < 1e-14, abs(sum(db8.^2)-1) < 1e-14, abs(sum(db8[0..13].*db8[2..15])) < 1e-14
n = float64(0..15)
print abs(sum((-1).^n.*db8.*n.^7)) < 1e-5, abs(sum((-1).^n.*db8.*n.^8)) > 1
worst = 0
lengths = zeros(6,6)
for [i,j] = 0..[5,5]
    lengths[i,j] = size(filtercoeff_selcw[i,j], 1)
    for r = 0..1
        h = filtercoeff_selcw[i,j][r,:]
        for m = 0..2..numel(h)-1
            worst = max(worst, abs(sum(h[0..numel(h)-1-m].*h[m..numel(h)-1]) - (m == 0)))
        end
    end
end
print worst < 1e-14, lengths
% a pair approximates a Hilbert pair better for larger j: the wavelets of both trees have one envelope
w = filtercoeff_selcw[3,1]
print w[0,0..3], w[1,0..3]
% analysis and synthesis
for img = {x, exact}
    [S, S_H] = build_dtcwt(complex_orthogonal_wavelet(filtercoeff_selcw[1,1]), filtercoeff_selcw[3,1], 3)
    show("dtcwt", img, S, S_H)
    [S, S_H] = build_dwt(db8, 3)
    show("dwt", img, S, S_H)
    [S, S_H] = build_stp(size(img), 3, 2)
    show("stp", img, S, S_H)
    [S, S_H] = build_stp(size(img), 4, 2)
    show("stp", img, S, S_H)
    [S, S_H] = build_energyweighted_dst2d(size(img), 6, 2)
    show("dst2d", img, S, S_H)
end
[S, S_H] = build_energyweighted_dst2d([31,45], 5, 3)
show("dst2d", exact[0..30,0..44], S, S_H)
[S, S_H] = build_stp(size(x), 5, 3)
print near(energy(S(x))/squared_norm(x), 1), " ", size(S(x)[2][4]), size(S(x)[4])
% the older order of arguments
[S, S_H] = build_dwt(2, filtercoeff_daub2)
print near(S_H(S(x)), x), " ", numel(S(x))
% real bands, changed in place
[S, S_H] = build_dtcwt(filtercoeff_farras, filtercoeff_dualfilt, 2)
W = S(x)
bands = lincell(W)
print type(bands[0]), " ", type(bands[numel(bands)-1])
for j = 0..numel(bands)-5
    bands[j][:,:] = 0
end
low = S_H(W)
print squared_norm(low) < 0.2*squared_norm(x), " ", squared_norm(low) > 0
% weights: white noise of variance 4 has variance 4 in every band
[S, S_H] = build_energyweighted_dst2d([128,128], 4, 2)
noise = lincell(S(2*randn(128,128)))
for band = noise
    write(abs(mean(band.^2)/4 - 1) < 0.15)
end
print ""
% directions: a wave appears in the band of its direction
waves = (a,b) -> cos(2*pi*(a*repmat(transpose(0..63),[1,64]) + b*repmat(0..63,[64,1]))/64)
function [] = report_directions(S)
    for wave = {waves(0,20), waves(20,0), waves(14,14), waves(14,-14)}
        bands = lincell(S(wave))
        strength = zeros(5)
        for k = 0..4
            strength[k] = squared_norm(bands[k])
        end
        write(find_index_max(strength), " ")
    end
end
[S, S_H] = build_stp([64,64], 4, 2)
report_directions(S)
[S, S_H] = build_energyweighted_dst2d([64,64], 4, 2)
report_directions(S)
print ""
% three dimensions
v = randn(16,24,8)
for w2 = {filtercoeff_dualfilt, filtercoeff_selcw[3,1], complex_orthogonal_wavelet(filtercoeff_selcw[0,5])}
    b = dtcwt3d_untiled(v, filtercoeff_farras, w2, 3)
    print near(idtcwt3d_untiled(b, filtercoeff_farras, w2, 3), v), near(energy(b)/squared_norm(v), 1), " ", numel(b), size(b[3])
end
b = dtcwt3d_untiled(ones(8,8,8), filtercoeff_farras, filtercoeff_dualfilt, 2)
print abs(sum(b[2][0..1,0..1,0..1].^2) - 128) < 1e-3, " ", squared_norm(b[2][2..7,:,:]) < 1e-6
wide = float64(v)
print max(abs(idtcwt3d_untiled(dtcwt3d_untiled(wide, filtercoeff_selcw[1,1], filtercoeff_selcw[3,1], 2), filtercoeff_selcw[1,1], filtercoeff_selcw[3,1], 2) - wide)) < 1e-13
for wrong = {() -> dtcwt3d_untiled(v, filtercoeff_farras, filtercoeff_dualfilt, 4), () -> build_stp([48,50], 4, 2), () -> build_energyweighted_dst2d([8,8], 1, 2)}
    try
        wrong()
    catch e
        print e
    end
end
