% Arguments as in MATLAB where they have one meaning, and errors that say what to write where they have not.
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
x = 255*float64([[0,1,0,0],[1,0.5,1,0],[0,1,0,0],[0,0,0,0]])
print isequal(imfill(x > 100, "holes"), imfill(x > 100)), isequal(imfill(x, "holes"), imfill(x))
h = fspecial("gaussian")
print isequal(imfilter(x, h, "replicate"), imfilter(x, h, [], "clamped")), isequal(imfilter(x, h, "symmetric",
                                                                                            "conv"), imfilter(x, h))
d = float64([[1,2,-3]])
print isequal(imfilter(x, d, "replicate", "conv"), imfilter(x, d, [], "clamped")), isequal(imfilter(x, d, "corr"),
    imfilter(x, fliplr(d), [], "zeros"))
print imfilter([1,2,4], [1,1], "circular"), imfilter([1,2,4], [1,10], "conv")
y = [0,1,0,3,0,2,0,5,0,0.2,0]
[pks, locs] = findpeaks(y, "MinPeakHeight", 1)
print pks, locs
[pks, locs] = findpeaks(y, "MinPeakDistance", 2, "SortStr", "descend")
print pks, locs, findpeaks(y, "NPeaks", 2), findpeaks(y, "minpeakprominence", 2, "Threshold", 1, "MinPeakWidth", 0.5,
                                                      "NPeaks", 2)
[S, f, t] = spectrogram(1..64, 16, 12, 16, 100)
print size(S), f[8], t[0..1], size(spectrogram(1..64, hann(16), [], [], 100)), isequal(spectrogram(1..64, hamming(16),
                                                                                                   12), S)
print hann(4, "periodic"), isequal(hamming(8, "periodic"), hamming(9)[0..7]), filter(1, [1,-0.5], transpose([1,0,0]))
print xcorr([1,2], "coeff"), isequal(xcorr([1,2], [3,4], "biased"), xcorr([1,2], [3,4], null,
    "biased")), detrend([1,2,4], 0), detrend([1,2,3], 1)
print isequal(pwelch(1..64, 16, [], [], 10), pwelch(1..64, 16, null, null, 10)), isequal(stdfilt(x, ones(3,3)),
    stdfilt(x, 3)), rangefilt(x, ones(1,3))[0,:]
print isequal(edge(x, "sobel", 20), edge(x, "sobel", [20])), isequal(imadjust(x, [50,200], []), imadjust(x, [50,200]))
[_, c] = kmeans([[0,0],[0,1],[9,9],[9,8]], 2, "Replicates", 3, "MaxIter", 50)
print sortrows(c)

bw = zeros(12,16)
bw[1..4,1..5] = 1
bw[2..3,3] = 0
bw[7..10,8..14] = 1
bw[7,8..12] = 0
s = regionprops(bwlabel(bw), "Area", {"Perimeter","Solidity"}, "FilledArea", "EulerNumber")
print s.Area, s.Perimeter, s.Solidity, s.ConvexArea, s.FilledArea, s.EulerNumber
s = regionprops(bwlabel(bw), 100*bw + float64(0..15), "MaxIntensity")
print s.MaxIntensity, s.MinIntensity, s.MeanIntensity
[H, theta, rho] = hough(bw)
p = houghpeaks(H, 2, "threshold", 4, "NHoodSize", [3,3])
print p, isequal(p, houghpeaks(H, 2, 4, [3,3])), houghlines(bw, theta, rho, p, "FillGap", 3, "MinLength", 4).point2
print sum(imbinarize(x, "adaptive", "Sensitivity", 0.9, "ForegroundPolarity", "dark")), isequal(
    adaptthresh(x, 0.4, "NeighborhoodSize", 3, "Statistic", "gaussian"), adaptthresh(x, 0.4, "bright", 3, "gaussian"))

attempt(() -> imfill(x, "hole"))
attempt(() -> imfilter(x, d, "replicate"))
attempt(() -> imfilter(x, h, "reflect"))
attempt(() -> imfilter(x, h, [], "mirror", 1))
attempt(() -> findpeaks(y, "MinPeak", 1))
attempt(() -> findpeaks(y, "NPeaks"))
attempt(() -> findpeaks(y, 1, 2, 3, 4, 5, 0.5, 7))
attempt(() -> findpeaks(y, "SortStr", "up"))
attempt(() -> spectrogram(1..64, hann(16), 8, 32))
attempt(() -> spectrogram(1..64, hann(16), 16))
attempt(() -> regionprops(bw, "Area", "Centre"))
attempt(() -> regionprops(bw, "MeanIntensity"))
attempt(() -> regionprops(bw, "Area", 3))
attempt(() -> houghpeaks(H, 2, "Thresholds", 4))
attempt(() -> houghlines(bw, theta, rho, p, 1, 2, 3))
attempt(() -> imfindcircles(x, [3,5], "Sensitivity", 2))
attempt(() -> imadjust(x, [0.2,0.8]))
attempt(() -> stdfilt(x, [[1,0],[0,1]]))
attempt(() -> hann(4, "flat"))
attempt(() -> filter(1, 1, [[1,2],[3,4]]))
attempt(() -> filter([], 1, [1,2,3]))
attempt(() -> imbinarize(x, "adaptive", "Sens", 0.4))
print isequal(fir1(48, [0.35,0.65]), fir1(48, [0.35,0.65], "bandpass")), isequal(butter(2, [0.1,0.3]),
                                                                                 butter(2, [0.1,0.3], "bandpass"))
print isequal(ellip(3, 1, 40, 0.3), ellip(3, 1, 40, 0.3, "low")), xcorr([1,2], "normalized")
attempt(() -> fir1(48, [0.35,0.65], "low"))
attempt(() -> butter(2, [0.1,0.3], "low"))
attempt(() -> butter(2, 0.1, 1000))
