#!/usr/bin/env python3
"""Makes the reference data of tests/scripts/lib/golden_*.q with NumPy, SciPy, scikit-image and OpenCV, as .npz files
beside this script. They are in the tree, so that the tests need neither."""
import colorsys, os
import cv2
import numpy as np
from scipy import cluster, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, spatial, special, stats
from skimage import exposure, feature, filters as filters_, measure, morphology, registration, segmentation
from skimage import restoration as restoration_
from skimage import transform

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, **arrays):
    wide = {k: np.asarray(v, np.complex128 if np.iscomplexobj(v) else np.float64) for k, v in arrays.items()}
    np.savez(os.path.join(HERE, name), **wide)


def statistics(rng):
    x, w = rng.normal(size=37), rng.normal(size=(5, 7))
    holes = np.where(rng.random(40) < 0.3, np.nan, rng.normal(size=40))
    p = [0, 5, 33.3, 50, 90, 100]
    schemes = ("hazen", "weibull", "median_unbiased", "normal_unbiased", "inverted_cdf", "averaged_inverted_cdf",
               "closest_observation", "interpolated_inverted_cdf")
    q = [0, 0.01, 0.25, 1 / 3, 0.5, 0.74, 0.9, 1]
    schemes = {m: np.quantile(x[:24], q, method=m) for m in schemes}
    save("statistics.npz", q=q, **schemes, var=np.var(w, axis=0, keepdims=True),
         std=np.std(w, axis=1, ddof=1, keepdims=True),
         median=np.median(w, axis=1, keepdims=True), nanmedian=[np.nanmedian(holes)], nanvar=[np.nanvar(holes, ddof=1)],
         nanstd=[np.nanstd(holes, ddof=0)], x=x, w=w, holes=holes, p=p, percentile=np.percentile(x, p),
         lower=np.percentile(x, p, method="lower"), higher=np.percentile(x, p, method="higher"),
         nearest=np.percentile(x, p, method="nearest"), midpoint=np.percentile(x, p, method="midpoint"),
         rows=np.percentile(w, p, axis=1).T, nansum=[np.nansum(holes)], nanmean=[np.nanmean(holes)],
         cov=np.cov(w, rowvar=False), corrcoef=np.corrcoef(w, rowvar=False),
         diff=np.diff(w, axis=0), cumulative=integrate.cumulative_trapezoid(w, axis=1, initial=0))


def sampled(rng):
    x, y, at = np.cumsum(rng.random(20)), rng.normal(size=20), np.sort(rng.random(15) * 6 + 1)
    a, b = rng.normal(size=(9, 8)), rng.normal(size=(3, 4))
    u, v = rng.random(11) * 7, rng.random(11) * 8
    counts, edges = np.histogram(y, 6)
    save("sampled.npz", x=x, y=y, at=at, interp1=np.interp(at, x, y), trapz=[integrate.trapezoid(y, x)],
         a=a, b=b, full=signal.convolve2d(a, b), same=signal.convolve2d(a, b[:, :3], "same"),
         valid=signal.convolve2d(a, b, "valid"), conv=np.convolve(x, y), kron=np.kron(a, b),
         u=u, v=v, interp2=ndimage.map_coordinates(a, [v, u], order=1), counts=counts, edges=edges,
         polyfit=np.polyfit(x, y, 4), polyval=np.polyval(y[:5], x))


def interpolation(rng):
    x, at = np.cumsum(rng.random(12) + 0.1), np.concatenate([[0.05], np.sort(rng.random(20) * 6 + 0.2), [8.5]])
    y, c, m = rng.normal(size=12), rng.normal(size=12) + 1j * rng.normal(size=12), rng.normal(size=(12, 3))
    inside = np.clip(at, x[0], x[-1])
    z, u, v = rng.normal(size=(7, 9)), rng.random(15) * 8, rng.random(15) * 6
    spline = interpolate.RectBivariateSpline(np.arange(7), np.arange(9), z, s=0)
    kinds = {k: interpolate.interp1d(x, y, k)(inside) for k in ("nearest", "previous", "next")}
    save("interpolation.npz", x=x, at=at, y=y, c=c, m=m, inside=inside, z=z, u=u, v=v, **kinds,
         pchip=interpolate.PchipInterpolator(x, y)(at), spline=interpolate.CubicSpline(x, y)(at),
         three=interpolate.CubicSpline(x[:3], y[:3])(at), complex=interpolate.CubicSpline(x, c)(inside),
         columns=interpolate.CubicSpline(x, m)(inside), surface=spline.ev(v, u),
         linear=np.interp(at, x, y))


def complex_numbers(rng):
    a, b = (rng.normal(size=(5, 6)) + 1j * rng.normal(size=(5, 6)) for _ in range(2))
    save("complex.npz", a=a, b=b, full=signal.convolve2d(a, b), same=signal.convolve2d(a, b[:3, :2], "same"),
         conv=np.convolve(a[0], b[0]), polyval=np.polyval(a[0], b), cov=np.cov(a, rowvar=False),
         corrcoef=np.corrcoef(a, rowvar=False), var=np.var(a, axis=0, ddof=1, keepdims=True),
         trapz=integrate.trapezoid(a, axis=1)[:, None], cumulative=integrate.cumulative_trapezoid(a, axis=1, initial=0),
         det=[np.linalg.det(a[:, :5])], inv=np.linalg.inv(a[:, :5]), solve=np.linalg.solve(a[:, :5], b),
         pinv=np.linalg.pinv(a), singular=np.linalg.svd(a, compute_uv=False), fft=np.fft.fft(a, axis=1),
         ifft2=np.fft.ifft2(b))


def linear_algebra(rng):
    a, t, b = rng.normal(size=(6, 6)), rng.normal(size=(8, 5)), rng.normal(size=(8, 2))
    spd, low = a @ a.T + np.eye(6), rng.normal(size=(6, 2)) @ rng.normal(size=(2, 7))
    q, r = np.linalg.qr(t)
    values = np.linalg.eigvals(a)
    save("linear_algebra.npz", a=a, t=t, b=b, spd=spd, low=low, det=[np.linalg.det(a)],
         logdet=[np.linalg.slogdet(spd)[1]], inv=np.linalg.inv(a), least=np.linalg.lstsq(t, b)[0],
         chol=linalg.cholesky(spd), projector=q @ q.T, r=np.abs(r), singular=np.linalg.svd(t, compute_uv=False),
         symmetric=np.linalg.eigvalsh(spd), rank=[np.linalg.matrix_rank(low)],
         values=values[np.lexsort((values.imag, values.real))], cond=[np.linalg.cond(a)], pinv=np.linalg.pinv(low))


def transforms(rng):
    x, m, c = rng.normal(size=45), rng.normal(size=(7, 12)), rng.normal(size=(4, 6, 5))
    save("transforms.npz", x=x, m=m, c=c, f=np.fft.fft(x), along=np.fft.fft(m, axis=0), f2=np.fft.fft2(m),
         f3=np.fft.fftn(c), i2=np.fft.ifft2(m), shift=np.fft.fftshift(m), unshift=np.fft.ifftshift(m),
         prime=np.fft.fft(x[:37]), cube=np.fft.fft2(c, axes=(0, 1)))


def filters(rng):
    z, mask, hit = rng.random((17, 13)), rng.normal(size=(3, 5)), np.array([[0, 1, 1], [1, 1, 0], [0, 1, 0]])
    far = ndimage.grey_erosion(z, footprint=hit, mode="constant", cval=np.inf)
    rgb = rng.random((4, 5, 3))
    hsv = np.array([[colorsys.rgb_to_hsv(*p) for p in row] for row in rgb])
    save("filters.npz", z=z, mask=mask, hit=hit, rgb=rgb, hsv=hsv, erode=far,
         imfilter=ndimage.convolve(z, mask, mode="reflect"), wrapped=ndimage.convolve(z, mask, mode="wrap"),
         edge=ndimage.convolve(z, mask, mode="nearest"), zeros=ndimage.convolve(z, mask, mode="constant"),
         gaussian=ndimage.gaussian_filter(z, 1.5, truncate=3, mode="reflect"),
         median=ndimage.median_filter(z, size=5, mode="reflect"),
         dilate=ndimage.grey_dilation(z, footprint=hit, mode="constant", cval=-np.inf),
         box=ndimage.convolve(z, np.ones((5, 5)), mode="constant"),
         twice=ndimage.zoom(z, 2, order=1, mode="nearest", grid_mode=True))


def warps(rng):
    z, rgb = rng.random((11, 14)), rng.random((6, 7, 3))
    affine = np.array([[0.9, 0.2, 1.5], [-0.3, 1.1, 0.7], [0, 0, 1]])
    bent = np.array([[1.1, 0.1, 0.5], [-0.2, 0.9, 1.2], [0.01, 0.02, 1]])
    rows, columns = rng.random((5, 6)) * 15 - 3, rng.random((5, 6)) * 18 - 3
    modes = {"clamped": "nearest", "mirror": "reflect", "mirror_nr": "mirror", "circular": "grid-wrap",
             "zeros": "grid-constant"}

    def keys(x, u, v):                          # cubic convolution, pixels outside are 0
        def weight(t):
            a = abs(t)
            return np.where(a < 1, (1.5 * a - 2.5) * a * a + 1, np.where(a < 2, ((-0.5 * a + 2.5) * a - 4) * a + 2, 0))
        i, j = np.meshgrid(np.arange(x.shape[0]), np.arange(x.shape[1]), indexing="ij")
        each = [(weight(p - i) * weight(q - j) * x).sum() for p, q in zip(u.ravel(), v.ravel())]
        return np.reshape(each, u.shape)

    def warped(t):                              # the plane moves by t
        p = np.linalg.inv(t) @ np.array([[x, y, 1] for y in range(11) for x in range(14)]).T
        return ndimage.map_coordinates(z, [p[1] / p[2], p[0] / p[2]], order=1, mode="grid-constant").reshape(z.shape)

    modes = {k: ndimage.map_coordinates(z, [rows, columns], order=1, mode=m) for k, m in modes.items()}
    save("warps.npz", z=z, rgb=rgb, affine=affine, bent=bent, rows=rows, columns=columns, **modes,
         nearest=ndimage.map_coordinates(z, [rows, columns], order=0, mode="nearest"), bicubic=keys(z, rows, columns),
         moved=warped(affine), projected=warped(bent),
         pulled=ndimage.affine_transform(z, affine[:2, :2], [1.5, -0.5], (9, 8), order=1, mode="grid-constant", cval=3),
         turned=ndimage.rotate(z, 33, order=1, mode="grid-constant"),
         cropped=ndimage.rotate(rgb, -70, reshape=False, order=1, mode="grid-constant", cval=2),
         shifted=ndimage.shift(z, [1.3, -2.6], order=1, mode="reflect"),
         zoomed=ndimage.zoom(z, [1.7, 0.6], order=1))


def edges(rng):
    z = ndimage.gaussian_filter(rng.random((40, 37)), 2) * 20
    down, right = np.gradient(z, 0.5, 2)
    save("edges.npz", z=z, down=down, right=right, laplace=ndimage.laplace(z), sobel=ndimage.sobel(z, 1),
         prewitt=ndimage.prewitt(z, 0), log=ndimage.gaussian_laplace(z, 1.4),
         canny=feature.canny(z, 1.2, 0.5, 1.5, mode="reflect"))


def zhang_suen(bw):
    x, before = np.pad(bw, 1).astype(int), None
    while before is None or (x != before).any():
        before = x
        for half in range(2):
            p = [np.roll(x, s, (0, 1)) for s in ((1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1))]
            n, rises = sum(p), sum((p[k] == 0) & (p[(k + 1) % 8] == 1) for k in range(8))
            a, b = ((0, 2, 4), (2, 4, 6)) if half == 0 else ((0, 2, 6), (0, 4, 6))
            gone = (n >= 2) & (n <= 6) & (rises == 1) & (p[a[0]] * p[a[1]] * p[a[2]] == 0)
            x = np.where(gone & (p[b[0]] * p[b[1]] * p[b[2]] == 0), 0, x)
    return x[1:-1, 1:-1]


def regions(rng):
    z = ndimage.gaussian_filter(rng.random((40, 37)), 2)
    bw, marks, four = z > np.median(z), np.zeros(z.shape, int), ndimage.generate_binary_structure(2, 1)
    marks[5, 5], marks[30, 30], marks[10, 30] = 1, 2, 3
    p = measure.regionprops_table(measure.label(bw), z, properties=(
        "area", "centroid", "bbox", "axis_major_length", "axis_minor_length", "eccentricity",
        "equivalent_diameter_area", "extent", "mean_intensity"))
    grey = np.round(255 * (z - z.min()) / np.ptp(z)).astype(np.uint8)
    save("regions.npz", z=z, bw=bw, marks=marks, grey=grey, eight=morphology.reconstruction(z - 0.02, z),
         four=morphology.reconstruction(z - 0.03, z, footprint=four), holes=ndimage.binary_fill_holes(bw),
         maxima=morphology.local_maxima(z), flood=segmentation.watershed(z, marks, connectivity=2),
         flood4=segmentation.watershed(z, marks, connectivity=1),
         skel=zhang_suen(bw),
         thin=morphology.thin(bw), large=morphology.remove_small_objects(bw, max_size=29, connectivity=2),
         inner=segmentation.clear_border(bw), equal=255 * exposure.equalize_hist(z),
         clahe=cv2.createCLAHE(2.0, (3, 7)).apply(grey), **{k.replace("-", "_"): v for k, v in p.items()})


def signals(rng):
    x, y = np.cumsum(rng.normal(size=300)), rng.normal(size=300)
    windows = {f"w_{n}_{m}": signal.get_window(a, m, fftbins=False) for m in (16, 17) for n, a in {
        "bartlett": "bartlett", "triang": "triang", "bohmanwin": "bohman", "parzenwin": "parzen",
        "nuttallwin": "nuttall", "blackmanharris": "blackmanharris", "flattopwin": "flattop",
        "kaiser": ("kaiser", 6.0), "tukeywin": ("tukey", 0.4), "gausswin": ("gaussian", (m - 1) / 5),
        "chebwin": ("chebwin", 60)}.items()}
    designs = {"butter": lambda *a, **k: signal.butter(5, *a, **k),
               "cheby1": lambda *a, **k: signal.cheby1(4, 1, *a, **k),
               "cheby2": lambda *a, **k: signal.cheby2(5, 40, *a, **k),
               "ellip": lambda *a, **k: signal.ellip(4, 1, 50, *a, **k)}
    for name, f in designs.items():
        for kind, w in (("low", 0.3), ("high", 0.4), ("bandpass", [0.2, 0.5]), ("bandstop", [0.2, 0.5])):
            windows[f"{name}_{kind}_b"], windows[f"{name}_{kind}_a"] = f(w, kind)
    b, a = signal.butter(3, 0.2)
    sos = signal.ellip(6, 0.5, 60, 0.25, output="sos")
    peaks, shape = signal.find_peaks(y, height=-0.5, distance=4, prominence=0.8, width=0.5)
    f, pxx = signal.welch(x, 2.5, nperseg=64, noverlap=20, nfft=80)
    _, _, S = signal.stft(x, nperseg=50, noverlap=30)
    save("signals.npz", x=x, y=y, **windows, fir_low=signal.firwin(21, 0.3), fir_high=signal.firwin(21, 0.3,
    pass_zero=False),
         fir_band=signal.firwin(20, [0.2, 0.5], pass_zero=False), fir_stop=signal.firwin(31, [0.2, 0.5]),
         notch=np.array(signal.iirnotch(0.3, 20)), peak=np.array(signal.iirpeak(30, 10, 200)), b=b, a=a, sos=sos,
         h=signal.freqz(b, a, 50)[1], delay=signal.group_delay((b, a), 20)[1], zi=signal.lfilter_zi(b, a),
         filtfilt=signal.filtfilt(b, a, x), even=signal.filtfilt(b, a, x, padtype="even", padlen=7),
         sosfilt=signal.sosfilt(sos, x), sosfiltfilt=signal.sosfiltfilt(sos, x), up=signal.resample_poly(x, 7, 3),
         down=signal.resample_poly(x, 2, 9), iir=signal.decimate(x, 3), fir=signal.decimate(x, 3, ftype="fir"),
         upfirdn=signal.upfirdn([1, 2, 3, 2, 1], x, 3, 2), peaks=peaks,
         prominences=shape["prominences"], widths=shape["widths"],
         all=signal.find_peaks(np.round(2 * y), threshold=0.5)[0], medfilt1=signal.medfilt(y, 5),
         sgolay=signal.savgol_filter(x, 11, 3), slope=signal.savgol_filter(x, 11, 4, deriv=1, delta=0.5),
         detrend=signal.detrend(x), xcorr=signal.correlate(x, y), f=f, pxx=pxx,
         pxy=signal.csd(x, y, nperseg=64)[1], coherence=signal.coherence(x, y, nperseg=64)[1],
         periodogram=signal.periodogram(x, window="hamming", scaling="spectrum", detrend="linear")[1], S=S,
         chirp=signal.chirp(np.arange(50) / 50, 2, 1, 9), log=signal.chirp(np.arange(50) / 50, 2, 1, 9, "logarithmic"),
         square=signal.square(np.arange(40) / 3, 0.3), sawtooth=signal.sawtooth(np.arange(40) / 3, 0.7))


def numerical(rng):
    def predator(t, y):
        return [1.5 * y[0] - y[0] * y[1], -3 * y[1] + y[0] * y[1]]
    times = np.linspace(0, 5, 21)
    coarse = integrate.solve_ivp(predator, (0, 5), [10, 5], t_eval=times)
    steps = integrate.solve_ivp(predator, (5, 2), [4, 1], rtol=1e-7, atol=1e-9)
    rosenbrock = optimize.minimize(optimize.rosen, [-1.2, 1, 0.5], method="Nelder-Mead")
    a, b = rng.normal(size=(12, 6)), rng.normal(size=12)
    m = rng.normal(size=(6, 6))
    spd = m @ m.T + np.eye(6)
    z = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    rows, columns, v = rng.integers(0, 30, 120), rng.integers(0, 25, 120), rng.normal(size=120)
    d = sparse.coo_matrix((v, (rows, columns)), (30, 25)).tocsr()
    t = np.arange(20) / 4
    y = 2.5 * np.exp(-0.7 * t) + 0.3 + 0.01 * rng.normal(size=20)
    save("numerical.npz", times=times, coarse=coarse.y.T, t=steps.t, y=steps.y.T, simplex=rosenbrock.x,
         turns=[rosenbrock.nit],
         a=a, b=b, nnls=optimize.nnls(a, b)[0], m=m, spd=spd, z=z, expm=linalg.expm(m), expm_z=linalg.expm(3 * z),
         sqrtm=linalg.sqrtm(spd), logm=linalg.logm(spd), sqrt_z=linalg.sqrtm(z), log_z=linalg.logm(z), rows=rows,
         columns=columns, v=v, dense=d.toarray(), start=d.indptr, column=d.indices, value=d.data,
         product=d @ np.arange(25), ts=t, ys=y,
         fit=optimize.curve_fit(lambda t, p, q, r: p * np.exp(-q * t) + r, t, y, [1, 1, 0], ftol=1e-14, xtol=1e-14)[0],
         toeplitz=linalg.toeplitz(a[0], b[:4]), hankel=linalg.hankel(a[0], np.r_[a[0, -1], b[:3]]))


def local(rng):
    z = ndimage.gaussian_filter(rng.random((30, 33)), 1) * 100
    domain = np.array([[0, 1, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0]])
    template = z[8:15, 11:20]
    padded = np.pad(z, 2, mode="symmetric")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5))
    i, j = np.mgrid[-2:3, -2:3]
    w = np.exp(-(i**2 + j**2) / 2 / 1.5**2 - (windows - z[:, :, None, None])**2 / 2 / 4**2)
    moved = ndimage.fourier_shift(np.fft.fft2(z), (3.2, -5.6))
    save("local.npz", z=z, domain=domain, third=ndimage.rank_filter(z, 2, footprint=domain),
         mean=ndimage.uniform_filter(z, (3, 5)),
         std=windows.std((2, 3), ddof=1), range=windows.max((2, 3)) - windows.min((2, 3)),
         wiener=signal.wiener(z, (5, 5)), wiener_noise=signal.wiener(z, (3, 5), 9),
         bilateral=(w * windows).sum((2, 3)) / w.sum((2, 3)), template=template,
         match=feature.match_template(z, template),
         moved=np.fft.ifft2(moved).real,
         shift=registration.phase_cross_correlation(np.fft.ifft2(moved).real, z, upsample_factor=50)[0],
         peaks=feature.peak_local_max(z, min_distance=2, exclude_border=2), harris=feature.corner_harris(z),
         sliding=np.lib.stride_tricks.sliding_window_view(z, (3, 4)).reshape(28 * 30, 12).T)


def restoration(rng):
    z = np.round(ndimage.gaussian_filter(rng.random((24, 27)), 1.5) * 100 + 5 * rng.random((24, 27)), 3)
    psf = rng.random((3, 5))
    psf /= psf.sum()
    blurred = ndimage.convolve(z, psf, mode="wrap")
    wide = np.zeros(z.shape)
    wide[:3, :5] = psf
    h = np.fft.fft2(np.roll(wide, (-1, -2), (0, 1)))
    lucy = np.full(z.shape, blurred.mean())
    for _ in range(7):
        lucy = lucy * np.fft.ifft2(np.fft.fft2(blurred / np.fft.ifft2(np.fft.fft2(lucy) * h).real) * h.conj()).real
    levels = rng.integers(0, 5, (13, 14))
    glcm = feature.graycomatrix(levels.astype(np.uint8), [1], [0, np.pi / 2], levels=5)
    symmetric = feature.graycomatrix(levels.astype(np.uint8), [1], [0], levels=5, symmetric=True, normed=True)
    x = rng.normal(size=(60, 3)) + np.repeat([[0, 0, 0], [6, 0, 0], [0, 6, 1]], 20, axis=0)
    centers, labels = cluster.vq.kmeans2(x, x[[0, 25, 50]], minit="matrix", iter=50)
    save("restoration.npz", z=z, psf=psf, blurred=blurred, lucy=lucy,
         wiener=np.fft.ifft2(h.conj() * np.fft.fft2(blurred) / (abs(h)**2 + 0.01)).real,
         tv=restoration_.denoise_tv_chambolle(z, weight=3), levels=levels, right=glcm[:, :, 0, 0], up=glcm[:, :, 0, 1],
         contrast=feature.graycoprops(symmetric, "contrast"), correlation=feature.graycoprops(symmetric, "correlation"),
         energy=feature.graycoprops(symmetric, "ASM"), x=x, centers=centers, labels=labels,
         distances=spatial.distance.cdist(x, x[:7]), nearest=spatial.cKDTree(x).query(x[:5] + 0.3, 3)[1],
         latent=np.linalg.eigvalsh(np.cov(x, rowvar=False))[::-1])


def stiff():
    def oscillator(t, y):
        return [y[1], 1000 * (1 - y[0]**2) * y[1] - y[0]]

    def robertson(t, y):
        slow, fast, back = 0.04 * y[0], 3e7 * y[1]**2, 1e4 * y[1] * y[2]
        return [back - slow, slow - back - fast, fast]

    def driven(t, y):
        return -50 * (y - np.cos(t))
    exact = {"method": "Radau", "rtol": 1e-12, "atol": 1e-14}
    times, decades = np.linspace(0, 2000, 11), np.array([0, 0.4, 4, 40, 400, 4000, 40000])
    save("stiff.npz", times=times, decades=decades,
         oscillator=integrate.solve_ivp(oscillator, (0, 2000), [2, 0], t_eval=times, **exact).y.T,
         robertson=integrate.solve_ivp(robertson, (0, 40000), [1, 0, 0], t_eval=decades, **exact).y.T,
         driven=integrate.solve_ivp(driven, (0, 2), [0], t_eval=times / 1000, **exact).y.T,
         bdf=integrate.solve_ivp(robertson, (0, 40000), [1, 0, 0], "BDF", rtol=1e-6, atol=1e-11).y.T)


def gridded(rng):
    z, four = rng.normal(size=(5, 6, 7)), rng.normal(size=(3, 4, 2, 5))
    x = [np.cumsum(rng.random(n) + 0.2) for n in z.shape]
    low, high = np.array([p[0] for p in x]), np.array([p[-1] for p in x])
    at = low + (high - low) * rng.random((20, 3))
    wide = low + (high - low) * (1.4 * rng.random((20, 3)) - 0.2)
    c = z
    for k in range(3):
        c = np.moveaxis(interpolate.make_interp_spline(x[k], np.moveaxis(c, k, 0), 3).c, 0, k)
    knots = tuple(np.r_[[p[0]] * 4, p[2:-2], [p[-1]] * 4] for p in x)
    places = rng.random((9, 4)) * [2, 3, 1, 4]
    save("gridded.npz", z=z, x0=x[0], x1=x[1], x2=x[2], at=at, wide=wide, four=four, places=places,
         linear=interpolate.interpn(x, z, at), nearest=interpolate.interpn(x, z, at, "nearest"),
         cubic=interpolate.NdBSpline(knots, c, 3)(at),
         line=interpolate.interpn(x, z, wide, fill_value=None, bounds_error=False),
         beyond=interpolate.interpn(x, z, wide, fill_value=-1, bounds_error=False),
         hyper=interpolate.interpn([np.arange(n) for n in four.shape], four, places))


def motion(rng):
    i, j = np.mgrid[:75, :90].astype(float)

    def picture(i, j):
        return np.sin(i / 5) * np.cos(j / 7) + 0.5 * np.sin((i + 2 * j) / 9) + 0.3 * np.cos(i / 3 - j / 4)
    x, y = picture(i, j), picture(i - 1.5 - np.sin(j / 20), j + 2 + np.cos(i / 30))
    flow = registration.optical_flow_ilk(x, y, dtype=np.float64)
    small = registration.optical_flow_ilk(x[:20, :30], y[:20, :30], radius=4, num_warp=3, dtype=np.float64)
    image = ((i - 30)**2 + (j - 35)**2 < 400) * 0.6 + ((i - 60)**2 / 2 + (j - 70)**2 < 60) * 0.5 + 0.2 * x
    image += 0.1 * rng.normal(size=image.shape)
    contours = [segmentation.morphological_chan_vese(image, 20, smoothing=2),
                segmentation.morphological_chan_vese(image, 16, image > 0.8, 1, 1, 3),
                segmentation.morphological_chan_vese(image, 5, image > 0.8, 0)]
    save("motion.npz", x=x, y=y, down=flow[0], right=flow[1], small_down=small[0], small_right=small[1], image=image,
         checkerboard=contours[0], weights=contours[1], rough=contours[2])


def scattered(rng):
    p, at = rng.random((60, 2)) * [1, 3], rng.random((80, 2)) * [1.4, 4.2] - [0.2, 0.6]
    z = np.sin(5 * p[:, 0]) + p[:, 1]
    solid, places = rng.normal(size=(30, 3)), rng.normal(size=(12, 3))
    corners = np.sort(spatial.Delaunay(p).simplices, 1)
    save("scattered.npz", p=p, at=at, z=z, solid=solid, places=places, T=corners[np.lexsort(corners.T[::-1])],
         linear=interpolate.griddata(p, z, at), nearest=interpolate.griddata(p, z, at, "nearest"),
         near=interpolate.griddata(solid, np.arange(30), places, "nearest"))


def masks(rng):
    z = ndimage.gaussian_filter(rng.random((41, 38)), 2.5) * 255
    z = 255 * (z - z.min()) / np.ptp(z)
    bw = z > np.percentile(z, 60)
    hit = np.array([[0, 1, 0], [1, 1, 1], [0, 0, 0]])
    miss = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0]])
    sub = (np.arange(400) + 0.5) / 400 - 0.5 # shares of pixels that a disk covers, by many points
    at = np.arange(-4, 5)[:, None] + sub
    disk = ((at[:, None, :, None]**2 + at[None, :, None, :]**2) <= 3.7**2).mean((2, 3))
    points, many = rng.normal(size=(60, 2)), rng.normal(size=(80, 2)) * 1.2
    corners = np.array([[-1, -1], [1.5, -0.5], [0, 0], [1, 1.5], [-1, 1]])
    hull = spatial.ConvexHull(points)
    x = np.arange(-3, 4)
    gauss = np.exp(-(x[:, None]**2 + x[None, 1:-1]**2) / (2 * 1.3**2))
    save("masks.npz", z=z, bw=bw, otsu=filters_.threshold_multiotsu(z, 4, 64) + np.ptp(z) / 128,
         gaussian=filters_.threshold_local(z, 9, "gaussian"), mean=filters_.threshold_local(z, 7, "mean", offset=3),
         median=filters_.threshold_local(z, 5, "median"), digits=np.digitize(z, [50, 90.5, 200], right=True),
         euler=[measure.euler_number(bw, 2), measure.euler_number(bw, 1)],
         hull=morphology.convex_hull_image(bw[:20, :20]),
         objects=morphology.convex_hull_object(bw), hit=hit, miss=miss, points=points, many=many, corners=corners,
         hits=ndimage.binary_hit_or_miss(bw, hit, miss)[1:-1, 1:-1], octagon=morphology.octagon(5, 4),
         disk7=morphology.disk(7), diamond=morphology.diamond(4), disk=disk / disk.sum(), gauss=gauss / gauss.sum(),
         vertices=np.append(hull.vertices, hull.vertices[0]), area=[hull.volume],
         inside=measure.points_in_poly(many, corners), levels=[np.histogram(z, np.linspace(-8.5, 263.5, 17))[0]])


def features(rng):
    z = ndimage.gaussian_filter(rng.random((36, 40)), 1.2) * 255
    z = 255 * (z - z.min()) / np.ptp(z)
    rgb = ndimage.gaussian_filter(rng.random((30, 34, 3)), (2, 2, 0))
    rgb = (rgb - rgb.min()) / np.ptp(rgb)
    grey = np.round(z)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(grey, ((3, 3), (2, 2)), mode="symmetric"), (7, 5))
    counts = (windows.reshape(36, 40, 35)[..., None] == np.arange(256)).sum(2) / 35
    entropy = -(counts * np.log2(np.where(counts > 0, counts, 1))).sum(2)
    lbp = {k: feature.local_binary_pattern(z, 8, 1.5, k) for k in ("default", "ror", "uniform", "var")}
    re, im = filters_.gabor(z, 0.15, 0.6, 1.3)
    kernel = filters_.gabor_kernel(0.2, 1, sigma_x=2, sigma_y=3, offset=0.4)
    edges = feature.canny(z, 2)
    save("features.npz", z=z, rgb=rgb, entropy=entropy, hog=feature.hog(z, 9, (6, 5), (2, 3)),
         hog_color=feature.hog(rgb, 8, (8, 8), (2, 2), "L1-sqrt", transform_sqrt=True, channel_axis=-1),
         l2=feature.hog(z, block_norm="L2"), l1=feature.hog(z, block_norm="L1"), re=re, im=im, kernel=kernel,
         frangi=filters_.frangi(z, [1, 2.5]), bright=filters_.frangi(z, [2], black_ridges=False, beta=1, gamma=8),
         edges=edges, circles=np.moveaxis(transform.hough_circle(edges, [3, 6]), 0, 2),
         slic=segmentation.slic(rgb, 20, channel_axis=-1), slic_grey=segmentation.slic(z, 12, 0.1, channel_axis=None),
         loose=segmentation.slic(z, 25, 0.05, sigma=1, enforce_connectivity=False, channel_axis=None), **lbp)


def moments(rng):
    x, m, low = rng.gamma(2, size=31), rng.normal(size=(6, 9)), rng.normal(size=(7, 3)) @ rng.normal(size=(3, 5))
    points, edges = rng.normal(size=(200, 2)), [-2, -0.5, 0, 1.7]
    c = rng.normal(size=6) + 1j * rng.normal(size=6)
    q, r = signal.deconvolve(x[:12], x[20:24])
    save("moments.npz", x=x, m=m, low=low, points=points, c=c, q=q, r=r,
         skew=[stats.skew(x), stats.skew(x, bias=False)], skew_rows=stats.skew(m, 1)[:, None],
         kurt=[stats.kurtosis(x, fisher=False), stats.kurtosis(x, bias=False, fisher=False)],
         kurt_columns=stats.kurtosis(m, 0, fisher=False)[None],
         mad=[np.mean(np.abs(x - x.mean())), stats.median_abs_deviation(x)], zscore=stats.zscore(m, 0, ddof=1),
         zscore_n=stats.zscore(m, 1), percent=np.percentile(m, [10, 60], axis=1, method="hazen").T,
         iqr=[stats.iqr(x), np.subtract(*np.percentile(x, [75, 25], method="hazen"))],
         iqr_rows=stats.iqr(m, 1, keepdims=True),
         counts=np.histogram2d(*points.T, [5, 7])[0], ranged=np.histogram2d(*points.T, 4, [[-1, 1], [0, 2]])[0],
         edged=np.histogram2d(*points.T, [edges, edges])[0], cummax=np.maximum.accumulate(m, 1),
         cummin=np.minimum.accumulate(m, 0), poly=np.poly(x[:5]), characteristic=np.poly(m[:, :6]), complex=np.poly(c),
         companion=linalg.companion(x[:6]), rem=np.fmod(m * 10, 3.3), rot90=np.rot90(m), rot270=np.rot90(m, 3),
         orth=linalg.orth(low) @ linalg.orth(low).T, null=linalg.null_space(low) @ linalg.null_space(low).T,
         wide=linalg.null_space(low.T) @ linalg.null_space(low.T).T)


def designs(rng):
    x, c = rng.normal(size=23), rng.normal(size=15) + 1j * rng.normal(size=15)
    at, deep = np.concatenate([[0.01, 0.5, 1, 1.001], rng.random(8) * 30]), rng.random(9) * 2 - 1
    orders = [signal.buttord(*p, 1, 40, fs=8) for p in ((1, 1.5), (2.5, 2), ([1, 2], [0.7, 2.6]))]
    b, a = [1.5, -2, 0.3, 1, 4], np.poly([1, -2, -2, -2, 0.5])
    r, p, k = signal.residue(np.polymul(b, [1, 2, 0, 1]), a)
    pulses = signal.gausspulse(x / 9, 5, 0.6, -8, retquad=True, retenv=True)
    at_legendre = [special.lpmv(m, 4, deep) for m in range(5)]
    save("designs.npz", x=x, c=c, at=at, deep=deep, even=signal.firls(25, [0, 0.3, 0.4, 1], [1, 1, 0, 0.2]),
         weighted=signal.firls(31, [0, 1, 1.5, 2, 2.5, 4], [0, 0, 1, 0.5, 0, 0], weight=[1, 2, 5], fs=8),
         kaiser=signal.kaiserord(-20 * np.log10(0.005), 0.1), n=[o[0] for o in orders], low=[orders[0][1]],
         high=[orders[1][1]], band=orders[2][1], czt=signal.czt(x), zoom=signal.czt(c, 9, 0.98 * np.exp(-0.05j), 1.1j),
         taylor=signal.windows.taylor(24, 5, 35, norm=False), yi=pulses[0], yq=pulses[1], ye=pulses[2],
         remez=signal.remez(21, [0, 0.3, 0.4, 1], [1, 0], fs=2),
         remez_odd=signal.remez(32, [0, 1, 1.4, 2.4, 2.8, 4], [0, 1, 0], weight=[1, 2, 5], fs=8),
         legendre=at_legendre, expint=special.exp1(at), bessel=[special.jv(n, at) for n in (0, 1, 7, -3)],
         b=np.polymul(b, [1, 2, 0, 1]), a=a, residues=r[np.lexsort([np.arange(5), np.round(p.real, 3)])],
         poles=np.sort(p), k=k)


def clusters(rng):
    def groups(z, t, criterion):
        found = cluster.hierarchy.fcluster(z, t, criterion)
        return np.unique(found, return_index=True)[1].argsort().argsort()[found - 1]
    x, r = rng.normal(size=(30, 3)), np.random.default_rng(10)
    methods = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
    trees = {m: cluster.hierarchy.linkage(x, m) for m in methods}
    z = r.integers(-3, 4, 50) + 1j * r.integers(-3, 4, 50)
    save("clusters.npz", x=x, **trees, pairs=spatial.distance.pdist(x),
         cityblock=cluster.hierarchy.linkage(x, "average", "cityblock"),
         chebychev=cluster.hierarchy.linkage(x, "complete", "chebyshev"),
         few=groups(trees["average"], 4, "maxclust"), near=groups(trees["centroid"], 1.2, "distance"),
         ward_groups=groups(trees["ward"], 3, "distance"), z=z, unique=np.unique(z),
         first=np.unique(z, return_index=True)[1], which=np.unique(z, return_inverse=True)[1],
         counts=np.unique(z, return_counts=True)[1], both=np.intersect1d(z[:20], z[20:]),
         apart=np.setxor1d(z[:20], z[20:]), without=np.setdiff1d(z[:20], z[20:]),
         either=np.union1d(z[:20], z[20:]), isin=np.isin(z[:20], z[20:]))


rng = np.random.default_rng(1)
statistics(rng)
sampled(rng)
interpolation(rng)
complex_numbers(rng)
linear_algebra(rng)
transforms(rng)
filters(rng)
warps(rng)
edges(rng)
regions(rng)
signals(rng)
numerical(rng)
local(rng)
restoration(rng)
stiff()
gridded(np.random.default_rng(2))
motion(np.random.default_rng(3))
scattered(np.random.default_rng(4))
masks(np.random.default_rng(5))
features(np.random.default_rng(6))
moments(np.random.default_rng(7))
designs(np.random.default_rng(8))
clusters(np.random.default_rng(9))
