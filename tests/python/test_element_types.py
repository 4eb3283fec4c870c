"""Every function of the library for images and signals takes arrays of every element type that other libraries produce.

CALLS has one call or more of each function that docs/builtins.md lists for MODULES and SECTIONS; a function without a
call fails.  Each call is made from Python with NumPy arrays and in a program with values of the language, which must
agree bit by bit, and with the same numbers as float64, which must agree up to rounding: a result that depends on the
type of the elements is marked."""
import os, re, unittest

import pyquasar as q
from optional import library

np = library("numpy")
if np is None:
    raise unittest.SkipTest("NumPy is not installed")

MANUAL = os.path.join(os.path.dirname(__file__), "../../docs/builtins.md")
MODULES = """boxfilter colored_noise colortransform dct dtcwt dwt edges fastguidedfilter filterdesign gridded imanalysis
imboundary imcircles imcontrast imfeatures imfilter imlocal immedfilt immorphology imoverlay imresize imrestore
imthreshold imwarp kmeans matfun opticalflow polynomials radon regions scattered segmentation signal spectral
statistics""".split()
SECTIONS = ("Reductions and search", "Sampled functions", "Fourier transforms", "Shape", "Sets (vectors of numbers")
# Functions whose arguments are no samples: sizes, frequencies, names, trees of wavelet coefficients.
OTHERS = set("""psd_ct_ramp_spectrum_noise complex_orthogonal_wavelet idtcwt2d idtcwt3d_untiled zpk2sos zpk2tf
butter cheby1 cheby2 ellip iirnotch iirpeak fir1 firls kaiserord buttord firpm boundary_index gabor_kernel gaussian_mask
fspecial strel phantom primes factor nchoosek bin2dec hex2dec dec2bin dec2hex logspace hann hamming blackman bartlett
triang bohmanwin parzenwin blackmanharris nuttallwin flattopwin rectwin kaiser gausswin tukeywin chebwin taylorwin
idwt2d fcluster size numel ndims isempty ind2pos int2pos pos2ind""".split())
DTYPES = "bool uint8 uint16 int32 float32 float64".split()

# The arrays that calls name: x gray image, y another one, c color image, m mask, L labels, k filter mask, s t signals,
# h filter, p points, A square matrix, i small counts.
# = before a call: the result depends on the element type, whose arithmetic it has; ! before a call: it takes no bool.
CALLS = """
boxfilter(c, 2)
generate_psd(k, [8,8])
cgn_rand(k)
rgb2gray(c)
rgb2gray(x)
rgb2ycbcr(c)
ycbcr2rgb(c)
csencodeSRGB(c)
csdecodeSRGB(c)
csencodeRec709(c)
csdecodeRec709(c)
csencodeRec2020(c)
csdecodeRec2020(c)
rgb2xyz(c)
xyz2rgb(c)
rgb2lab(c)
lab2rgb(c)
rgb2hsv(c)
hsv2rgb(c)
dct1(x)
idct1(x, 1)
dct2(x)
idct2(x)
dtcwt2d(x, J=1)
dtcwt3d_untiled(c4, J=1)
dwt2d(x, [0.7,0.7], 1)
gradient(x)
laplace(c)
sobel(c)
prewitt(x, 0)
scharr(x)
imgradientxy(x)
gaussian_laplace(x, 1.5)
canny(x)
edge(x)
edge(x, "log")
fastguidedfilter(x, y, 2, 10)
sos2tf(A6)
tf2zpk(h, h)
tf2sos(h, h)
freqz(h, 1, 8)
sosfreqz(A6, 8)
grpdelay(h, 1, 8)
sosfilt(A6, s)
lfilter_zi(h, h)
!sosfilt_zi(S6)
filtfilt(h, 1, s)
!sosfiltfilt(S6, s)
upfirdn(s, h, 2, 3)
resample(s, 3, 2)
decimate(s, 2)
interpn([0,1,2,3], h4, A2)
graythresh(x)
bwlabel(m)
bwlabel(x)
bwdist(m)
imgradient(x)
psnr(x, y)
ssim(x, y)
bound_extension(x, 2, 3)
padarray(x, [2,3])
hough_circle(m, [3,4])
imfindcircles(x, [3,6])
stretchlim(x)
imadjust(x)
histeq(x)
adapthisteq(x)
entropyfilt(x)
local_binary_pattern(x, 8, 1)
hog(x, 9, [4,4], [2,2])
gabor(x, 0.2)
frangi(x, [1,2])
imfilter(x, k)
imfilter(c, h)
gaussian_filter(c, 1.5)
imgaussfilt(x)
ordfilt2(x, 3)
ordfilt2(x, 1, k)
rank_filter(x, 2)
uniform_filter(x, 5)
stdfilt(x)
rangefilt(x)
wiener2(x)
imsharpen(x)
im2col(x, [2,3])
col2im(A4, [2,2], [4,4])
!istft(F, [1,1,1,1])
blockproc(x, [10,12], fliplr)
imbilatfilt(x, 20)
!normxcorr2(k, x)
phase_correlation(x, y)
peak_local_max(x)
harris(x)
hough(m)
houghpeaks(x, 2)
houghlines(m, [0,45,90], [0,10,20], P)
immedfilt(c)
=imerode(x)
=imdilate(x)
=imopen(c)
=imclose(m)
bwhitmiss(m, k3)
imtophat(x)
imbothat(c, k)
label2rgb(L)
imoverlay(x, m)
imfuse(x, y)
imresize(x, 0.5)
imresize(c, [7,9], "bicubic")
imresize(x, 2, "nearest")
imresize(x, 0.5, "box")
imresize(x, 2, "lanczos3")
deconvwnr(x, k, 0.1)
deconvlucy(x, k, 3)
denoise_tv(x, 25, 20)
nlmeans(x)
demosaic(x)
graycomatrix(L, [0,1], 4)
graycoprops(A4)
!multithresh(x, 2)
imquantize(x, [50,100])
imbinarize(x)
=imhist(x)
!=imhist(x, 10, [0,255])
threshold_local(x, 5)
adaptthresh(x)
affine_transform(x, R)
imwarp(c, R)
imrotate(x, 30)
shift(x, [1,2.5])
imtranslate(x, [1,2.5])
zoom(x, 1.5)
imremap(x, A, A)
!fitgeotrans(p, p)
!kmeans(p, 2)
!linkage(p)
pdist2(p, p)
knnsearch(p, p)
!pca(p)
expm(i)
!sqrtm(S)
!logm(S)
toeplitz(h)
hankel(h)
vander(h)
blkdiag(x, k)
polyder(s)
polyint(s)
accumarray(i3, h)
sortrows(p)
gcd(s, 6)
lcm(s, 6)
=isprime(s)
rem(s, 7)
fix(s)
rot90(x)
perms(i3)
!orth(S)
null_space(S)
deg2rad(x)
rad2deg(x)
sinc(s)
nthroot(s, 3)
sind(x)
cosd(x)
tand(i)
polyarea(h, i3)
opticalflow(x, y, 3, 2)
deconv(s, h)
poly(h)
compan(h)
!residue(i3, s3)
radon(x, [0,45])
iradon(x, A24)
imreconstruct(k3, k)
imfill(m)
imfill(m, "holes")
imclearborder(m)
bwareaopen(m, 3)
imregionalmax(x)
imregionalmin(x)
imhmax(x, 10)
imextendedmax(x, 10)
watershed(x)
watershed(x, L)
bwmorph(m, "thin", 1)
bwskel(m)
bwperim(m)
bwboundaries(m)
regionprops(L)
regionprops(m, x)
bweuler(m)
bwconvhull(m)
!delaunay(p)
!griddata(p, p5, p)
!convhull(p)
inpolygon(s, t, [0,50,50,0], [0,0,50,50])
activecontour(x, null, 5)
chan_vese(x, m, 5)
slic(c, 6)
filter(h, 1, s)
filter(h, h, s)
filter(h, h, h41)
filter(1, h, t5)
spectrogram(s, 16)
unwrap(s)
hilbert(s)
detrend(s)
xcorr(s, t, 4)
findpeaks(s)
findpeaks(s, "MinPeakHeight", 20)
medfilt1(s, 3)
sgolayfilt(s, 2, 5)
downsample(s, 3)
envelope(s)
rms(x)
chirp(s, 0.1, 50, 0.2)
square(s)
sawtooth(s)
czt(s)
gauspuls(i, 1)
movsum(s, 3)
movmean(s, 3)
pwelch(s, hann(32))
cpsd(s, t, hann(32))
mscohere(s, t, hann(32))
periodogram(s)
stft(s, hann(32))
cummax(s)
cummin(x, 0)
skewness(s)
kurtosis(s)
mad(s)
zscore(x)
iqr(s)
normalize(s)
rescale(x)
prctile(s, [25,50])
histogram2d(s, t)
histcounts2(s, t, [0,50,100], [0,50,100])
sum(x)
=prod(h)
mean(x, 0)
min(x)
max(x)
any(m)
all(m, 0)
squared_norm(s)
norm(s)
norm1(s)
logsumexp(s)
argmin(x)
argmax(x, 1)
var(x)
std(x, 1)
median(x)
find_index_min(s)
find_index_max(s)
=cumsum(x, 0)
=cumprod(h)
=diff(s)
trapz(s)
cumulative_trapezoid(s)
percentile(x, 30)
quantile(s, 0.3)
mode(s)
nansum(x)
nanmean(x)
nanmin(x)
nanmax(x)
nanmedian(x)
nanvar(x)
nanstd(x)
find(m)
sort(s)
take_along(x, i1, 0)
add_along(x, i24, 0, 3)
rank_positions(s, 3)
unique(s)
dotprod(s, t)
interp1([0,1,2], h, [0.5,1.5])
!interp1(s5, p5, [0.5])
interp2(x, A, A)
histogram(x)
histogram(s, 10)
bincount(i)
!polyfit(s5, p5, 1)
polyval(h, s)
roots(h)
medfilt(x)
conv(s, h)
movmin(x, 3)
movmax(s, 3)
conv2(x, k)
conv2(x, k, "same")
conv_planes(cp, w4, [1,1], [0,0], [1,1], 1)
conv_planes_input(dp, w4, [1,1,5,6], [1,1], [0,0], [1,1], 1)
conv_planes_weights(cp, dp, [1,1,2,2], [1,1], [0,0], [1,1], 1)
conv_planes_bias(dp)
cov(x)
corrcoef(s, t)
fft1(s)
fft2(x)
fft3(c)
ifft1(s)
ifft2(x)
ifft3(c)
fftshift1(s)
fftshift2(x)
fftshift3(c)
ifftshift1(s)
ifftshift2(x)
ifftshift3(c)
copy(x)
reshape(x, [10,-1])
transpose(x)
herm_transpose(x)
permute(c, [2,0,1])
moveaxis(c, 0, 2)
squeeze(x)
vertcat(x, y)
horzcat(x, y)
cat(0, x, y)
repmat(x, [2,1])
circshift(x, [1,2])
flip(x)
fliplr(x)
flipud(x)
diag(A)
diagm(s)
triu(A)
tril(A)
kron(h, k)
cross(h, i3)
union(s, t)
intersect(s, t)
setdiff(s, t)
setxor(s, t)
ismember(s, t)
""".strip().splitlines()


def arrays():
    """The numbers behind the names, as float64; integers from 0 to 200 in it, so that all types but bool hold them."""
    random = np.random.default_rng(5)
    rows, columns = np.mgrid[:20, :24]
    blob = lambda r, c, d: np.maximum(0, d - np.hypot(rows - r, columns - c))
    gray = np.floor(30*blob(6, 6, 5) + 20*blob(12, 17, 6) + random.integers(0, 20, (20, 24)))
    labels = 1.0*(blob(6, 6, 5) > 0) + 2*(blob(12, 17, 6) > 0)
    tone = 60 + 40*np.sin(np.arange(96)*0.4) + random.integers(0, 20, 96)
    whole = lambda *size: random.integers(0, 9, size).astype(float)
    square = whole(4, 4)
    points = np.stack([random.permutation(30)[:12], random.permutation(30)[:12]], 1).astype(float)
    return {"x": np.minimum(gray, 200), "y": np.minimum(np.roll(gray, (1, 2), (0, 1)), 200), "m": 1.0*(labels > 0),
            "L": labels, "c": random.integers(0, 200, (12, 14, 3)).astype(float), "s": np.floor(tone),
            "t": np.floor(np.roll(tone, 3)), "h": np.array([1.0, 2, 1]),
            "k": np.array([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]]),
            "k3": np.array([[0.0, 1, 0], [1, 1, 1], [0, 1, 0]]), "p": points, "p5": whole(12), "s5": np.arange(12.0),
            "A": whole(4, 16), "A4": whole(4, 4) + 1, "A2": whole(3, 1)/4//1, "A24": np.arange(24.0),
            "A6": np.array([[1.0, 2, 1, 1, 0, 0], [1, 1, 0, 1, 0, 0]]),
            "S": square @ square.T + 9*np.eye(4), "R": np.array([[1.0, 1, 0], [0, 1, 2], [0, 0, 1]]),
            "P": np.array([[1.0, 1], [0, 2]]), "i": whole(4, 4)//3, "i3": np.array([1.0, 3, 2]),
            "s3": np.array([1.0, 5, 6]), "t5": whole(8), "i1": np.zeros((1, 24)), "i24": whole(20, 24)//4,
            "cp": whole(1, 1, 5, 6), "w4": whole(1, 1, 2, 2), "dp": whole(1, 1, 4, 5),
            "c4": whole(4, 4, 4), "S6": np.array([[1.0, 2, 1, 1, 0, 0]]), "F": whole(3, 5),
            "h4": np.array([1.0, 5, 2, 7]),
            "h41": whole(9, 1)}


def listed():
    """The functions that the manual lists, with their numbers of results."""
    text = open(MANUAL).read()
    found = {}
    for title in SECTIONS:
        part = text[text.index("\n## " + title):]
        for row in re.findall(r"^\| `(.*?)` \|", part[:part.index("\n## ", 4)], re.M):
            name = re.match(r"(?:.*?= )?(\w+)\(", row)[1]
            found[name] = results(row)
    for row, module in re.findall(r"^\| `(.*?)` \|.*\| `(\w+)\.q` \|$", text[text.index("## Library modules"):], re.M):
        if module in MODULES:
            found[re.search(r"(\w+)\(", row)[1]] = results(row)
    return found


def results(row):
    listed_first = re.match(r"\[(.*?)\] = ", row)
    return listed_first[1].count(",") + 1 if listed_first else 1


def plain(v):
    """A result as arrays, numbers and lists of these."""
    if isinstance(v, tuple):
        return [plain(x) for x in v]
    if not isinstance(v, q.qvalue):
        return v
    if v.typename.startswith(("vec[?", "mat[?", "cube[?", "vec[vec", "vec[mat", "vec[c", "vec[i")) or "{" in str(v)[:1]:
        return [plain(x) for x in v]
    try:
        return np.asarray(v)
    except Exception:
        return {name: plain(getattr(v, name)) for name in q.fieldnames(v)}


def same(a, b):
    """Equal bit by bit, in type and shape, too."""
    if isinstance(a, (list, dict)):
        keys = a.keys() if isinstance(a, dict) else range(len(a))
        return type(a) is type(b) and len(a) == len(b) and all(same(a[k], b[k]) for k in keys)
    a, b = np.asarray(a), np.asarray(b)
    floats = a.dtype.kind in "fc"
    return a.dtype == b.dtype and a.shape == b.shape and (a.dtype.kind == "O" or np.array_equal(a, b, floats))


def close(a, b, tolerance=2e-4):
    if isinstance(a, (list, dict)):
        keys = a.keys() if isinstance(a, dict) else range(len(a))
        return type(a) is type(b) and len(a) == len(b) and all(close(a[k], b[k], tolerance) for k in keys)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "OUS" or a.shape != b.shape:
        return a.shape == b.shape and bool(np.all(a == b))
    a, b = a.astype(complex), b.astype(complex)
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.abs(b[np.isfinite(b)]).max(initial=1e-2)
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance*scale, equal_nan=True))


class Names(dict):
    """The functions of the language, for calls as Python writes them."""

    def __missing__(self, name):
        return getattr(q, name)


class ElementTypes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        q.init("cpu")
        cls.arrays = arrays()
        cls.listed = listed()

    def program(self, call, names, count):
        """The call as a function of a program."""
        outs = ", ".join(f"r{n}" for n in range(count))
        body = re.sub(r"(\w+)=(?!=)", r"\1:=", call)
        text = f"function [{outs}] = called({', '.join(names)})\n    [{outs}] = {body}\nend"
        if count == 1:
            text = f"function r0 = called({', '.join(names)})\n    r0 = {body}\nend"
        return q.compile_string("call", text).called

    def outcome(self, f):
        q.randseed(1)
        try:
            return plain(f()), None
        except Exception as e:
            return None, f"{type(e).__name__}: {e}".split("\n")[0]

    def check(self, line):
        call = line.lstrip("=!")
        name = re.match(r"\w+", call)[0]
        names = [n for n in self.arrays if re.search(rf"\b{n}\b(?!\w*\()(?![=\"])", re.sub(r'"[^"]*"', "", call))]
        count = self.listed.get(name, 1)
        exact = re.sub(r"(?<![\w\])\[])\[([-+\d., ]+)\](?!\])", r"float64([\1])", call)
        programs = {"float64": self.program(exact, names, count)}  # a list of Python beside float64 has its digits
        program = self.program(call, names, count)
        results = f", nargout={count})" if count > 1 else ")"
        python = eval(f"lambda {', '.join(names)}: {call[:-1]}{results}", Names(true=True, null=None))
        wrong = []
        for dtype in DTYPES:
            if dtype == "bool" and "!" in line:
                continue
            given = [self.arrays[n].astype(dtype) for n in names]
            before = [a.copy() for a in given]
            outside, error = self.outcome(lambda: python(*given))
            f = programs.get(dtype, program)
            inside, error2 = self.outcome(lambda: f(*map(q.value, given)))
            floats, error3 = self.outcome(lambda: program(*(q.value(a.astype("float64")) for a in given)))
            if error or error2 or error3:
                wrong.append(f"{dtype}: {error} | {error2} | {error3}")
            elif not same(outside, inside):
                wrong.append(f"{dtype}: Python {outside}, program {inside}"[:300])
            elif "=" not in line[:2] and not close(outside, floats):
                wrong.append(f"{dtype}: {outside}, float64 {floats}"[:300])
            if not all(map(np.array_equal, given, before)):
                wrong.append(f"{dtype}: an argument was changed")
        return wrong

    def test_every_function_has_a_call(self):
        called = {re.match(r"[=!]*(\w+)", line)[1] for line in CALLS}
        self.assertEqual(sorted(self.listed.keys() - called - OTHERS), [])
        self.assertEqual(sorted(OTHERS - self.listed.keys()), [])

    def test_frequencies_keep_their_digits(self):
        """A list of frequencies is float32 where no type is declared; designs use the numbers that were written."""
        wanted = plain(q.butter(4, np.array([0.1, 0.12]), nargout=2))
        for given in [0.1, 0.12], (0.1, 0.12), np.float32([0.1, 0.12]):
            self.assertTrue(same(plain(q.butter(4, given, nargout=2)), wanted))

    def test_calls(self):
        for line in CALLS:
            with self.subTest(line):
                self.assertEqual(self.check(line), [])


if __name__ == "__main__":
    unittest.main()
