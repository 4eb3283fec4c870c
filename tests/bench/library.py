#!/usr/bin/env python3
"""Measures built-in functions beside SciPy, NumPy and OpenCV, on one thread, and prints the ratios of their times.

    tests/bench/library.py [--module build/python] [--seconds 0.2] [--write] [WORD ...]

A row of ROWS is one call: our expression, the expression of the peer, and the sizes n for which it is timed.  Both get
the same arguments (INPUTS), and their results must be equal up to rounding.  The times are processor times, which
other work on the machine changes less, and the least of several calls in one process, alternating between both.  The
ratio is the time of the peer divided by ours: 1 is equal, below 1 we are slower.  The last lines have the geometric
mean and the rows below 0.8. WORD selects rows that contain it; --write puts the result into docs/benchmarks.md."""
import argparse, math, os, re, sys, tempfile, time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LOW = 0.8

import numpy as np
import scipy.fft as sf, scipy.interpolate as si, scipy.linalg as sl, scipy.ndimage as nd, scipy.signal as ss
import scipy.spatial as sp, scipy.special as sx, scipy.stats as st
try:
    import cv2
    cv2.setNumThreads(1)
except ImportError:
    cv2 = None
try:
    import skimage.metrics as metrics, skimage.restoration as restoration
except ImportError:
    metrics = restoration = None

random = np.random.default_rng(1)
FOLDER = tempfile.mkdtemp()


def f32(*dims):
    return random.random(dims, np.float32)


def whole(high, kind, *dims):
    return random.integers(0, high, dims).astype(kind)


def side(n):
    return math.isqrt(n)


def positive(n):
    a = random.random((n, n))
    return a @ a.T + n*np.eye(n)


def box7(a):
    return cv2.boxFilter(a, -1, (7, 7), borderType=cv2.BORDER_REFLECT)


def npy(n):
    path = os.path.join(FOLDER, f"{n}.npy")
    np.save(path, f32(n))
    return path


# The arguments by name, for size n.  Matrices and images have about n elements.
INPUTS = {
    "x": lambda n: f32(n), "y": lambda n: f32(n), "d": lambda n: random.random(n), "e": lambda n: random.random(n),
    "z": lambda n: (f32(n) + 1j*f32(n)).astype(np.complex64), "zd": lambda n: random.random(n) + 1j*random.random(n),
    "i32": lambda n: whole(1 << 30, np.int32, n), "i64": lambda n: whole(1 << 60, np.int64, n),
    "u16": lambda n: whole(1 << 16, np.uint16, n), "u8": lambda n: whole(256, np.uint8, n),
    "few": lambda n: whole(100, np.float32, n), "cnt": lambda n: whole(100, np.int32, n),
    "mask": lambda n: random.random(n) < 0.5, "perm": lambda n: random.permutation(n).astype(np.int32),
    "k15": lambda n: f32(15), "k31": lambda n: f32(31), "k3": lambda n: f32(3, 3), "k5": lambda n: f32(5, 5),
    "k9": lambda n: f32(9, 9), "knots": lambda n: np.sort(f32(100)), "vals": lambda n: f32(100),
    "grid": lambda n: np.linspace(0, 1, max(n//10, 4), dtype=np.float32), "gridv": lambda n: f32(max(n//10, 4)),
    "A": lambda n: f32(side(n), side(n)), "B": lambda n: f32(side(n), side(n)),
    "D": lambda n: random.random((side(n),)*2),
    "E": lambda n: random.random((side(n),)*2), "v": lambda n: f32(side(n)), "vd": lambda n: random.random(side(n)),
    "U": lambda n: whole(256, np.uint8, side(n), side(n)), "Z": lambda n: f32(side(n), side(n)).astype(np.complex64),
    "C": lambda n: f32(side(n//3), side(n//3), 3),
    "blobs": lambda n: nd.gaussian_filter(f32(side(n), side(n)), 2) > 0.5,
    "px": lambda n: f32(side(n), side(n))*np.float32(side(n)-1),
    "py": lambda n: f32(side(n), side(n))*np.float32(side(n)-1),
    "many": lambda n: f32(1, n//256, 16, 16), "many2": lambda n: f32(1, n//256, 16, 16),
    "rows": lambda n: f32(n//256, 256),
    "points": lambda n: f32(n//10, 3), "near": lambda n: f32(1000, 3),
    "tall": lambda n: f32(n//16, 16), "P": lambda n: positive(side(n)), "text": lambda n: "aBc9 xYz-" * (n//9 + 1),
    "path": npy, "coef": lambda n: f32(5), "b3": lambda n: np.array([0.2, 0.3, 0.2]),
    "a3": lambda n: np.array([1, -0.4, 0.1]),
}


# name | ours | peer | sizes
ROWS = """
fft1 c64 power of 2 | fft1(z) | sf.fft(z) | 1024 1048576
fft1 c64 decimal | fft1(z) | sf.fft(z) | 1000 1000000
fft1 c64 prime | fft1(z) | sf.fft(z) | 1009 100003
fft1 c64 factor 37 | fft1(z) | sf.fft(z) | 1036 151552
fft1 c128 | fft1(zd) | sf.fft(zd) | 1024 1048576
fft1 f32 | fft1(x) | sf.fft(x) | 1000 1048576
fft1 f64 | fft1(d) | sf.fft(d) | 1024 1048576
ifft1 c64 | ifft1(z) | sf.ifft(z) | 1024 1000000
fft1 of rows | fft1(rows,1) | sf.fft(rows,axis=1) | 2560 2560000
fft1 of columns | fft1(A,0) | sf.fft(A,axis=0) | 1024 1048576
fft2 f32 | fft2(A) | sf.fft2(A) | 1024 1048576
fft2 c64 | fft2(Z) | sf.fft2(Z) | 1024 1000000
ifft2 c64 | ifft2(Z) | sf.ifft2(Z) | 1024 1000000
dct1 | dct1(x,1) | sf.dct(x,norm='ortho') | 1024 1048576
dct2 | dct2(A) | sf.dctn(A,norm='ortho') | 1024 1048576
dct1 of columns | dct1(A,0) | sf.dct(A,axis=0,norm='ortho') | 1024 1048576
idct1 | idct1(x,1) | sf.idct(x,norm='ortho') | 1024 1048576
idct2 | idct2(A) | sf.idctn(A,norm='ortho') | 1024 1048576
sort f32 | sort(x) | np.sort(x) | 1000 10000000
sort f64 | sort(d) | np.sort(d) | 1000 10000000
sort i32 | sort(i32) | np.sort(i32) | 1000 10000000
sort i64 | sort(i64) | np.sort(i64) | 1000 10000000
sort u8 | sort(u8) | np.sort(u8) | 1000 10000000
sort u16 | sort(u16) | np.sort(u16) | 1000 10000000
sort rows | sort(A,1) | np.sort(A,1) | 10000 10000000
sort columns | sort(A,0) | np.sort(A,0) | 10000 10000000
argsort f32 | @order sort(x) | np.argsort(x) | 1000 10000000 | order
argsort f64 | @order sort(d) | np.argsort(d) | 1000 10000000 | order
unique f32 | unique(x) | np.unique(x) | 1000 10000000
unique i32 | unique(i32) | np.unique(i32) | 1000 10000000
unique few | unique(few) | np.unique(few) | 1000 10000000
median | median(x) | np.median(x) | 1000 10000000
median f64 | median(d) | np.median(d) | 1000 10000000
median of columns | median(A,0) | np.median(A,0,keepdims=True) | 10000 1000000
percentile | percentile(x,30) | np.percentile(x,30) | 1000 10000000
percentile of columns | percentile(A,30,0) | np.percentile(A,30,0,keepdims=True) | 10000 1000000
ismember in 100 | ismember(x,vals) | np.isin(x,vals) | 1000 1000000
ismember | ismember(x,few) | np.isin(x,few) | 1000 1000000
intersect | intersect(x,y) | np.intersect1d(x,y) | 1000 1000000
max rows and place | @place max(A,[],1) | A.argmax(1,keepdims=True) | 1000 10000000
max columns and place | @place max(A,[],0) | A.argmax(0,keepdims=True) | 1000 10000000
min rows and place u8 | @place min(U,[],1) | U.argmin(1,keepdims=True) | 1000 10000000
max rows and place f64 | @place max(D,[],1) | D.argmax(1,keepdims=True) | 1000 10000000
max and place | @place max(x) | x.argmax() | 1000 10000000
max of rows | max(A,[],1) | A.max(1,keepdims=True) | 1000 10000000
min of columns | min(A,[],0) | A.min(0,keepdims=True) | 1000 10000000
sum | sum(x) | x.sum() | 1000 10000000
sum of columns | sum(A,0) | A.sum(0,keepdims=True) | 1000 10000000
sum of rows | sum(A,1) | A.sum(1,keepdims=True) | 1000 10000000
mean f64 | mean(d) | d.mean() | 1000 10000000
var | var(x) | x.var(ddof=DDOF) | 1000 10000000
std of columns | std(A,0) | A.std(0,ddof=DDOF,keepdims=True) | 1000 10000000
cumsum | cumsum(x) | x.cumsum() | 1000 10000000 | float64
cumsum of columns | cumsum(A,0) | A.cumsum(0) | 1000 10000000
diff | diff(x) | np.diff(x) | 1000 10000000
histogram | histogram(x,100) | np.histogram(x,100)[0] | 1000 1000000
bincount | bincount(cnt) | np.bincount(cnt) | 1000 1000000
accumarray | accumarray(cnt,x) | np.bincount(cnt,x) | 1000 1000000
find | find(mask) | np.argwhere(mask) if mask.ndim > 1 else np.stack([0*np.flatnonzero(mask),np.flatnonzero(mask)],1) \
 | 1000 1000000
conv2 3x3 | conv2(A,k3) | ss.convolve2d(A,k3) | 1024 1000000
conv2 9x9 | conv2(A,k9) | ss.convolve2d(A,k9) | 1024 1000000
conv2 5x5 same f64 | conv2(D,float64(k5),"same") | ss.convolve2d(D,np.float64(k5),'same') | 1024 1000000
conv2 of equal sizes | conv2(A,B) | ss.fftconvolve(A,B) | 10000 1000000
conv 15 | conv(x,k15) | np.convolve(x,k15) | 1000 1000000
conv of equal sizes | conv(x,y) | ss.fftconvolve(x,y) | 1000 100000
imfilter 5x5 | imfilter(A,k5) | cv2.filter2D(A,-1,k5[::-1,::-1].copy(),borderType=cv2.BORDER_REFLECT) | 1024 1000000
gaussian_filter | gaussian_filter(A,2,13) | nd.gaussian_filter(A,2,radius=6) | 1024 1000000
filter | filter(b3,a3,d) | ss.lfilter(b3,a3,d) | 1000 1000000
medfilt r=1 | medfilt(A,1) | nd.median_filter(A,3) | 1024 1000000
medfilt r=1 u8 | medfilt(U,1) | cv2.medianBlur(U,3) | 1024 1000000 | inside 1
medfilt r=2 | medfilt(A,2) | cv2.medianBlur(A,5) | 1024 1000000 | inside 2
medfilt r=5 u8 | medfilt(U,5) | cv2.medianBlur(U,11) | 1024 1000000 | inside 5
ordfilt2 | ordfilt2(A,2) | nd.rank_filter(A,2,3) | 1024 1000000
immedfilt r=1 | immedfilt(A,1) | cv2.medianBlur(A,3) | 1024 1000000 | inside 1
imerode 3x3 | imerode(A,ones(3,3)) | cv2.erode(A,np.ones((3,3))) | 1024 1000000
imerode 5x5 | imerode(A,ones(5,5)) | cv2.erode(A,np.ones((5,5))) | 1024 1000000
imdilate 15x15 | imdilate(A,ones(15,15)) | cv2.dilate(A,np.ones((15,15))) | 1024 1000000
imdilate 15x15 u8 | imdilate(U,ones(15,15)) | cv2.dilate(U,np.ones((15,15))) | 1024 1000000
movmin 31 | movmin(x,31) | nd.minimum_filter1d(x,31) | 1000 10000000
movmax of columns | movmax(A,9,0) | nd.maximum_filter1d(A,9,0) | 1000 1000000
imopen 5x5 | imopen(A,ones(5,5)) | cv2.morphologyEx(A,cv2.MORPH_OPEN,np.ones((5,5))) | 1024 1000000
imclose 15x15 | imclose(A,ones(15,15)) | cv2.morphologyEx(A,cv2.MORPH_CLOSE,np.ones((15,15))) | 1024 1000000
imresize up bilinear | imresize(A,2) | cv2.resize(A,None,fx=2,fy=2,interpolation=cv2.INTER_LINEAR) | 1024 1000000
imresize up bicubic | imresize(A,2,"bicubic") | nd.zoom(A,2,order=3,mode='grid-constant',grid_mode=True) \
 | 1024 1000000 | size
imresize down | imresize(A,0.5) | cv2.resize(A,None,fx=0.5,fy=0.5,interpolation=cv2.INTER_AREA) \
 | 1024 1000000 | size
imresize down box | imresize(A,0.5,"box") | cv2.resize(A,None,fx=0.5,fy=0.5,interpolation=cv2.INTER_AREA) \
 | 1024 1000000
interp1 linear | interp1(knots,vals,x,"linear","clamp") | np.interp(x,knots,vals) | 1000 1000000
interp1 long | interp1(grid,gridv,x) | np.interp(x,grid,gridv) | 1000 1000000
interp1 spline | interp1(knots,vals,x,"spline","extrap") | si.CubicSpline(knots,vals)(x) | 1000 1000000 | within 1e-2
interp2 linear | interp2(A,px,py) | cv2.remap(A,px,py,cv2.INTER_LINEAR) | 1024 1000000 | within 2e-2
interp2 f64 | interp2(D,px,py) | nd.map_coordinates(D,[py,px],order=1) | 1024 1000000
interp2 nearest | interp2(A,px,py,"nearest") | nd.map_coordinates(A,[py,px],order=0) | 1024 1000000 | within 1
rgb2gray | rgb2gray(C) | cv2.cvtColor(C,cv2.COLOR_RGB2GRAY) | 3072 3000000
knnsearch | knnsearch(points,near) | sp.cKDTree(points).query(near)[1] | 10000 1000000
bwlabel | bwlabel(blobs) | nd.label(blobs,np.ones((3,3)))[0] | 1024 1000000
bwdist | bwdist(blobs) | cv2.distanceTransform(np.uint8(~blobs),cv2.DIST_L2,cv2.DIST_MASK_PRECISE) | 1024 1000000
boxfilter | boxfilter(A,3) | cv2.boxFilter(A,-1,(7,7),normalize=False) | 1024 1000000 | inside 3
matvec f32 | A*transpose(v) | (A@v)[:,None] | 10000 10000000
vecmat f32 | v*A | v@A | 10000 10000000
matvec f64 | D*transpose(vd) | (D@vd)[:,None] | 10000 10000000
transposed matvec | transpose(A)*transpose(v) | (A.T@v)[:,None] | 10000 10000000
product of 32x32 | A*B | A@B | 1024
product of 32x32 f64 | D*E | D@E | 1024
product of 100x100 | A*B | A@B | 10000
product of 300x300 | A*B | A@B | 90000
product of 300x300 f64 | D*E | D@E | 90000
product of 100x100 f64 | D*E | D@E | 10000
product of 1000x1000 | A*B | A@B | 1000000
batched 16x16 | batch_matmul(many,many2) | many@many2 | 2560 1048576
dotprod | dotprod(x,y) | x@y | 1000 10000000
norm | norm(x) | np.linalg.norm(x) | 1000 10000000
solve | linsolve(P,transpose(vd)) | sl.solve(P,vd) | 10000 1000000 | within 1e-3
inv | inv(P) | sl.inv(P) | 10000 250000
chol | chol(P) | sl.cholesky(P) | 10000 1000000 | within 1e-3
det | det(A) | sl.det(A) | 100 10000
transpose | copy(transpose(A)) | np.ascontiguousarray(A.T) | 1024 10000000
flip | flip(A,0) | np.ascontiguousarray(A[::-1]) | 1024 10000000
cat | cat(0,A,B) | np.concatenate((A,B)) | 1024 10000000
repmat | repmat(A,[2,2]) | np.tile(A,(2,2)) | 1024 1000000
circshift | circshift(A,[3,5]) | np.roll(A,(3,5),(0,1)) | 1024 1000000
gather | x[perm] | x[perm] | 1000 1000000
compress | x[mask] | x[mask] | 1000 1000000
polyval | polyval(coef,x) | np.polyval(coef,x) | 1000 1000000
trapz | trapz(x) | np.trapezoid(x) | 1000 1000000
rand | rand(numel(x)) | random.random(len(x),np.float32) | 1000 10000000 | random
randn | randn(numel(x)) | random.standard_normal(len(x),np.float32) | 1000 10000000 | random
randi | randi(100,numel(x)) | random.integers(0,100,len(x)) | 1000 10000000 | random
randperm | randperm(numel(x)) | random.permutation(len(x)) | 1000 1000000 | random
ucase | ucase(text) | text.upper() | 1000 1000000
lcase | lcase(text) | text.lower() | 1000 1000000
load npy | load(path) | np.load(path) | 1000 10000000
rgb2lab | rgb2lab(C) | cv2.cvtColor(C,cv2.COLOR_RGB2LAB) | 3072 3000000 | within 1e-2
rgb2hsv | rgb2hsv(C) | cv2.cvtColor(C,cv2.COLOR_RGB2HSV)/np.float32([360,1,1]) | 3072 3000000
ssim | ssim(A,B,1) | metrics.structural_similarity(A,B,gaussian_weights=True,sigma=1.5,use_sample_covariance=False, \
data_range=1) | 1024 1000000 | size
uniform_filter | uniform_filter(A,7) | nd.uniform_filter(A,7) | 1024 1000000
stdfilt | stdfilt(A,7) | np.sqrt(np.maximum(box7(A*A)-box7(A)**2,0)*(49/48)) | 1024 1000000 | within 1e-2
imbilatfilt | imbilatfilt(A,0.2,2,4) | cv2.bilateralFilter(A,9,0.2,2) | 1024 1000000 | size
nlmeans | nlmeans(A,0.2,0,2,5) | restoration.denoise_nl_means(A,5,5,0.2) | 1024 100000 | size
imremap | imremap(A,py,px) | cv2.remap(A,px,py,cv2.INTER_LINEAR,borderMode=cv2.BORDER_CONSTANT) \
 | 1024 1000000 | within 2e-2
findpeaks | findpeaks(x,0.5) | ss.find_peaks(x,0.5)[0] | 1000 1000000 | size
findpeaks with prominence | findpeaks(x,0.5,null,null,0.2) | ss.find_peaks(x,0.5,prominence=0.2)[0] \
 | 1000 1000000 | size
mode | mode(few) | st.mode(few).mode | 1000 1000000
sortrows | sortrows(points) | points[np.lexsort(points.T[::-1])] | 10000 10000000
im2col | im2col(A,[5,5]) | np.lib.stride_tricks.sliding_window_view(A,(5,5)).reshape(-1,25).T.copy() | 1024 1000000
expint | expint(x) | sx.exp1(x) | 1000 1000000
gammainc | gammainc(x,2.5) | sx.gammainc(np.float32(2.5),x) | 1000 1000000
"""


class Row:
    def __init__(self, line):
        self.name, self.ours, self.peer, sizes, *check = [p.strip() for p in line.split("|")]
        self.sizes = [int(s) for s in sizes.split()]
        self.check = (check or ["within 1e-4"])[0].split()
        self.names = [n for n in INPUTS if re.search(rf"\b{n}\b", self.ours + " " + self.peer)]

    def source(self, k):
        """The function that calls `times` times and returns the result."""
        call = self.ours
        result = "r = "
        if call[0] == "@":
            call = call.split(" ", 1)[1]
            result = "[_, r] = "
        copies = "".join(f"    {n} = copy({n}_given)\n" if n not in ("text", "path") else f"    {n} = {n}_given\n"
                         for n in self.names)
        return (f"function r = row{k}({', '.join(n + '_given' for n in self.names)}, times)\n{copies}"
                f"    for k = 1..times\n        {result}{call}\n    end\nend\n")


def equal(row, got, wanted, first):
    """Compares the results of a row; `first` is its first input."""
    kind = row.check
    if kind[0] in ("random", "size"): # the values differ: other numbers, or another rule of interpolation
        return got.size == wanted.size
    if kind[0] == "order": # NumPy's positions of equal elements are in any order
        got, wanted = (i.astype(np.int64).ravel() for i in (got, wanted))
        return len(set(got)) == first.size and np.array_equal(first.ravel()[got], first.ravel()[wanted])
    got, wanted = np.squeeze(got), np.squeeze(wanted)
    if got.shape != wanted.shape:
        return False
    if kind[0] == "inside" and int(kind[1]):
        cut = (slice(int(kind[1]), -int(kind[1])),)*2
        got, wanted = got[cut], wanted[cut]
    limit = float(kind[1]) if kind[0] == "within" else 1e-4
    both = got.astype(np.complex128), wanted.astype(np.complex128)
    return np.abs(both[0] - both[1]).max(initial=0) <= limit*(1 + np.abs(both[1][np.isfinite(both[1])]).max(initial=0))


def processor_time(call, *arguments):
    before = time.process_time()
    call(*arguments)
    return time.process_time() - before


def repeat(call, arguments, times):
    for _ in range(times):
        call(*arguments)


def measure(q, row, function, n, seconds):
    inputs = {name: INPUTS[name](n) for name in row.names}
    peer = eval(f"lambda {', '.join(row.names)}: {row.peer}", globals())
    given = list(inputs.values())
    got, wanted = function(*given, 1), peer(*given)
    if row.check[0] == "float64":  # the peer rounds its sums to float32 and loses digits: the truth has float64
        wanted = peer(*(np.asarray(a, np.float64) for a in given))
    if not isinstance(wanted, str):
        got, wanted = np.asarray(got), np.asarray(wanted)
        same = equal(row, got, wanted, given[0])
    else:
        same = str(got) == wanted
    times = max(1, int(2e-3/(processor_time(peer, *given) + 1e-9)))
    once = many = theirs = math.inf  # our function is called once and times + 1 times: it also copies its arguments
    spent = 0
    while spent < 2*seconds or spent == 0:
        for _ in range(3):
            once = min(once, processor_time(function, *given, 1))
        many = min(many, processor_time(function, *given, times + 1))
        theirs = min(theirs, processor_time(repeat, peer, given, times))
        spent += 3*once + many + theirs
    return (max(many - once, 1e-9)/times, theirs/times), same


def milliseconds(s):
    return f"{s*1e3:.3g}"


def write(lines):
    path = os.path.join(ROOT, "docs", "benchmarks.md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    begin, end = "<!-- library: written by tests/bench/library.py -->\n", "<!-- library: end -->"
    first, last = text.index(begin) + len(begin), text.index(end)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text[:first] + "\n".join(lines) + "\n" + text[last:])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--module", default=os.path.join(ROOT, "build", "python"), help="the folder of pyquasar")
    p.add_argument("--seconds", type=float, default=0.2, help="measure each side of a row for this long")
    p.add_argument("--write", action="store_true")
    p.add_argument("words", nargs="*")
    args = p.parse_args()
    sys.path.insert(0, args.module)
    import pyquasar as q
    q.init("cpu", threads=1)
    rows = [Row(line) for line in ROWS.strip().splitlines()]
    rows = [r for r in rows if not args.words or any(w in r.name or w in r.ours for w in args.words)]
    modules = ("dct", "imfilter", "immedfilt", "immorphology", "imresize", "signal", "colortransform", "imanalysis",
               "boxfilter", "dnn", "kmeans", "imlocal", "matfun", "imrestore", "imwarp", "special")
    imports = "".join(f'import "{m}.q"\n' for m in modules)
    absent_module = lambda r: any(w in r.peer and not m for w, m in
                                  (("cv2", cv2), ("box7", cv2), ("metrics", metrics), ("restoration", restoration)))
    lines = ["| call | n | quasar, ms | peer, ms | peer/quasar |", "|---|---|---|---|---|"]
    ratios, low, wrong, absent = [], [], [], 0
    globals()["DDOF"] = 1  # the default of var and std
    print("\n".join(lines))
    for k, row in enumerate(rows):
        if absent_module(row):
            absent += 1
            continue
        module = q.compile_string(f"row{k}", imports + row.source(k))
        for n in row.sizes:
            (ours, peer), same = measure(q, row, getattr(module, f"row{k}"), n, args.seconds)
            ratio = peer/ours
            ratios.append(ratio)
            low += [(ratio, row.name, n)]*(ratio < LOW)
            wrong += [f"{row.name} ({n})"]*(not same)
            lines.append(f"| {row.name} | {n} | {milliseconds(ours)} | {milliseconds(peer)} | {ratio:.2f} |")
            print(lines[-1] + ("" if same else " the results differ"), flush=True)
    mean = math.exp(sum(map(math.log, ratios))/len(ratios))
    summary = (f"{len(ratios)} measurements of {len(rows) - absent} calls; geometric mean {mean:.2f}; "
               f"below {LOW}: {len(low)}")
    print(summary)
    for ratio, name, n in sorted(low):
        print(f"  {ratio:.2f} {name} ({n})")
    if absent:
        print(f"{absent} calls were not run, because OpenCV or scikit-image is not installed")
    if args.write:
        opencv = cv2.__version__ if cv2 else "absent"
        versions = f"NumPy {np.__version__}, SciPy {sys.modules['scipy'].__version__}, OpenCV {opencv}"
        write([f"{time.strftime('%d %B %Y')}; {versions}; one thread. {summary}.", ""] + lines)
    if wrong:
        sys.exit("The results differ: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
