% Designs of filters, chirp transforms, partial fractions and special functions agree with SciPy: tests/goldens/make.py.
g = load("tests/goldens/designs.npz")
function [] = check(name, got, wanted, tolerance = 1e-9)
    far = isequal(size(got), size(wanted)) ? max(abs(got - wanted)) : inf
    if !(far <= tolerance*max(max(abs(wanted)), 1e-3))
        print name, " is wrong: ", size(got), " ", size(wanted), " ", far
    endif
end
check("firls", firls(24, [0,0.3,0.4,1], float64([1,1,0,0.2])), g.even, 1e-7)
check("firls with weights", firls(30, [0,1,1.5,2,2.5,4], [0,0,1,0.5,0,0], [1,2,5], 8), g.weighted)
check("firpm", firpm(20, [0,0.3,0.4,1], [1,1,0,0]), g.remez, 1e-3)
check("firpm with weights", firpm(31, [0,1,1.4,2.4,2.8,4], [0,0,1,1,0,0], [1,2,5], 8), g.remez_odd, 1e-3)
[n, Wn, beta, ftype] = kaiserord([0.25,0.35], [1,0], float64([0.005,0.01]))
check("kaiserord", float64([n+1,beta]), g.kaiser)
[n, Wn] = buttord(1, 1.5, 1, 40, 8, "pass")
check("buttord low", float64([n,Wn]), horzcat(g.n[0..0], g.low))
[n, Wn] = buttord(2.5, 2, 1, 40, 8, "pass")
check("buttord high", float64([n,Wn]), horzcat(g.n[1..1], g.high))
[n, Wn] = buttord([1,2], float64([0.7,2.6]), 1, 40, 8, "pass")
check("buttord band", horzcat(float64([n]), Wn), horzcat(g.n[2..2], g.band))
check("czt", czt(g.x), g.czt)
check("czt of a part", czt(g.c, 9, 0.98*exp(-0.05j), 1.1j), g.zoom)
check("taylorwin", taylorwin(24, 5, -35), g.taylor)
[yi, yq, ye] = gauspuls(g.x/9, 5, 0.6, -8)
check("gauspuls", vertcat(yi, yq, ye), vertcat(g.yi, g.yq, g.ye))
check("legendre", legendre(4, g.deep), g.legendre)
check("expint", expint(g.at), g.expint, 1e-14)
check("relative error of expint", expint(g.at)./g.expint, g.expint./g.expint, 1e-13)
x = float64([0.01,0.5,1,2,5,8,20,60,100])
a = float64([0.5,0.2,3,1,5,2,25,50,90])
lower = float64([0.1124629160182849, 0.8787748330362042, 0.08030139707139418, 0.8646647167633873, _
    0.5595067149347879, 0.9969808363488774, 0.1567726218262377, 0.9155933189063082, 0.8536538253012673])
upper = float64([0.887537083981715, 0.1212251669637956, 0.9196986029286058, 0.1353352832366127, _
    0.4404932850652126, 0.003019163651122605, 0.8432273781737623, 0.08440668109369177, 0.1463461746987327])
check("gammainc", gammainc(x, a), lower, 1e-14)
check("relative error of gammainc", gammainc(x, a)./lower, 1 + 0*x, 1e-13)
check("upper gammainc", gammainc(x, a, "upper")./upper, 1 + 0*x, 1e-13)
check("besselj", vertcat(besselj(0, g.at), besselj(1, g.at), besselj(7, g.at), besselj(-3, g.at)), g.bessel, 1e-14)
[r, p, k] = residue(g.b, g.a)
[_, order] = sort(round(1000*real(p)))
check("poles", real(p[order]), real(g.poles), 1e-9)
check("residues", real(r[order]), real(g.residues), 1e-9)
check("rest of a fraction", k, g.k)

% Designs keep their limits.
[n, Wn] = buttord(0.2, 0.3, 1, 40)
[b, a] = butter(n, Wn)
h = 20*log10(abs(freqz(b, a, float64([0.2,0.3]), 2)))
print n, " ", h[0] >= -1, abs(h[1] + 40) < 1e-6
[n, Wn, beta, ftype] = kaiserord([1500,2000,3000,3500], [0,1,0], 0.01, 8000)
h = abs(freqz(fir1(n, Wn, ftype, kaiser(n+1, beta), 8000), 1, float64([0,1500,2000,2500,3000,3500]), 8000))
print n, " ", Wn, " ", ftype, " ", max(abs(h - [0,0,1,1,1,0])) < 0.012
[n, Wn, beta, ftype] = kaiserord([0.4,0.5], [0,1], 0.1)
print n, " ", Wn, " ", ftype, " ", beta
b = firls(5, [0,0.4,0.6,1], [1,1,0,0])
print numel(b), " ", max(abs(b - fliplr(b))) < 1e-15, " ", abs(sum(b) -
    1) < 0.1, " ", abs(sum(firls(8, [0,1], [1,1])) - 1) < 1e-12
for n = [20,61,150]
    [b, err] = firpm(n, float64([0,0.3,0.36,1]), [1,1,0,0], [1,10])
    t = horzcat(0.3*float64(0..999)/999, 0.36 + 0.64*float64(0..999)/999)
    h = abs(freqz(b, 1, t, 2))
    far = max(max(abs(h[0..999] - 1)), 10*max(h[1000..1999]))
    print n, " ", abs(far/err - 1) < 0.05, " ", err < 10^(-n/60), " ", max(abs(b - fliplr(b))) < 1e-12
end
[r, p, k] = residue([1,5], [1,3,2])
print real(r), real(p), k, max(abs(imag(r))) < 1e-12
[r, p, k] = residue([1,0,0,1], [1,0])
print abs(r), abs(p), k
[r, p, k] = residue(6, 3)
print numel(r), k, abs(czt([1,2])), czt(5), taylorwin(1), size(taylorwin(0)), gauspuls(0)
print legendre(2, [0,0.5,1]), legendre(0, 0.3), abs(legendre(3, 0.2, "sch")[1,0] +
    0.48) < 1e-4, expint([0,inf]), besselj(0, 0), size(besselj(1, zeros(0,2)))
print gammainc([0,inf,2,0], float64([1,1,0,0])), gammainc(3, zeros(0)), gammainc(0, 2, "upper")
x = linspace(-1, 1, 2001)
print abs(trapz(x, legendre(5, x, "norm")[3,:].^2) - 1) < 1e-4

function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> firls(5, [0,0.4,0.6,1], [0,0,1,1]))
attempt(() -> firls(4, [0,0.4,0.3,1], [0,0,1,1]))
attempt(() -> firls(4, [0,0.4,0.6], [0,0,1]))
attempt(() -> firls(4, [0,1], [1,1], 0))
attempt(() -> firpm(4, [0,0.4,0.4,1], [1,1,0,0]))
attempt(() -> firpm(5, [0,0.4,0.5,1], [0,0,1,1]))
attempt(() -> firpm(40, [0.5,0.501], [1,1]))
attempt(() -> kaiserord(60, 0.1))
attempt(() -> kaiserord([0.2,0.3], [1,0.5], 0.1))
attempt(() -> kaiserord([0.3,0.2], [1,0], 0.1))
attempt(() -> buttord(0.2, 0.2, 1, 40))
attempt(() -> buttord([0.2,0.5], [0.3,0.4], 1, 40))
attempt(() -> buttord(0.2, 0.3, 40, 1))
attempt(() -> buttord(0.2, 1.3, 1, 40))
attempt(() -> residue(1, [0,0]))
attempt(() -> czt([]))
attempt(() -> czt([1,2], 0))
attempt(() -> czt([1,2], 2, 0))
attempt(() -> taylorwin(8, 4, 30))
attempt(() -> gauspuls(0, 1, 0.5, 6))
attempt(() -> legendre(3))
attempt(() -> legendre(2, 1.5))
attempt(() -> expint(-1))
attempt(() -> gammainc(1))
attempt(() -> gammainc(-1, 1))
attempt(() -> gammainc(1, 2e4))
attempt(() -> gammainc(1, 2, "middle"))
attempt(() -> besselj(0.5, 1))

% Frequencies of a list are the decimal numbers that are written, though its elements are float32
[band, edges, gains] = {[0.1,0.12], [0,0.3,0.4,1], [1,0.7,0.1,0]}
[band64, edges64, gains64] = {float64([0.1,0.12]), float64([0,0.3,0.4,1]), float64([1,0.7,0.1,0])}
print isequal(butter(4, band), butter(4, band64)), isequal(cheby1(2, 1, band), cheby1(2, 1, band64)), _
      isequal(ellip(2, 1, 40, [0.3], "high"), ellip(2, 1, 40, 0.3, "high")), isequal(fir1(20, band), fir1(20, band64)), _
      isequal(firls(20, edges, gains, [1,0.3]), firls(20, edges64, gains64, float64([1,0.3]))), _
      isequal(firpm(20, edges, gains), firpm(20, edges64, gains64))
[n, Wn] = buttord([0.2,0.3], [0.1,0.4], 1, 40)
[m, Wm] = buttord(float64([0.2,0.3]), float64([0.1,0.4]), 1, 40)
print n == m, isequal(Wn, Wm)
