import "dwt.q"
import "dtcwt.q"
import "multirestransforms.q"
randseed(4)
x = rand(32,48,3)
near = (a,b) -> max(abs(a-b)) < 1e-4
for w = {filtercoeff_haar, filtercoeff_daub2, filtercoeff_daub3, filtercoeff_daub4}
    W = dwt2d(x, w, 3)
    energy = 0
    for part = lincell(W)
        energy += squared_norm(part)
    end
    print near(idwt2d(W, w), x), abs(energy/squared_norm(x) - 1) < 1e-4, " ", size(W[0][2]), size(W[3])
end
ramp = repmat(0..15, [16,1])
print near(dwt2d(ramp, filtercoeff_daub2, 1)[0][1][0..7,0..6], zeros(8,7))
W = dtcwt2d(x, filtercoeff_farras, filtercoeff_dualfilt, 3)
energy = 0
for part = lincell(W)
    energy += squared_norm(part)
end
print near(idtcwt2d(W), x), abs(energy/squared_norm(x) - 1) < 1e-4, " ", numel(W), numel(W[0]), " ", type(W[0][0]), " ", size(W[2][5])
% a moving step: the energy of a band barely changes in the dual tree, but doubles in one tree
step = k -> repmat(float((0..63) >= k), [64,1])
spread = f -> max([f(28),f(30),f(32),f(34),f(36)])/min([f(28),f(30),f(32),f(34),f(36)])
print spread(k -> squared_norm(dtcwt2d(step(k), filtercoeff_farras, filtercoeff_dualfilt, 3)[2][1])) < 1.25
print spread(k -> squared_norm(dwt2d(step(k), filtercoeff_daub4, 3)[2][1])) > 1.8
[S, S_H] = build_dtcwt(2)
print near(S_H(S(x)), x)
[S, S_H] = build_dwt(2)
print near(S_H(S(x)), x), " ", numel(lincell({1,{2,{3}},4}))
try
    dwt2d(ones(6,8), filtercoeff_haar, 2)
catch e
    print e
end
