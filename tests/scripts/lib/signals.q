% tolerance: 1e-5
import "signal.q"
print hann(5), hamming(3), blackman(5), hann(1)
print filter([1], [1,-0.5], [1,0,0,0])
print filter([1,2,3], [2], [1,1,1,1])
print type(filter([1], [1], float64([1,2])))
S = spectrogram(cos(2*pi*(0..31)/8), 16, 8)
print size(S), " ", round(1000*abs(S[0..4,1]))/1000
print type(spectrogram(float64(1..16), 8)), " ", size(spectrogram(1..16, 8, window:=ones(8)))
p = 0..0.9..9
print max(abs(unwrap(angle(exp(p*1j))) - p)) < 1e-5, unwrap([4]), unwrap([])
t = 0..63
print max(abs(abs(hilbert(cos(2*pi*t/8))) - 1)) < 1e-5, " ", max(abs(imag(hilbert(cos(2*pi*t/8))) - sin(2*pi*t/8))) < 1e-5
print size(hilbert([1,2,3]))
try
    spectrogram([1,2,3], 4)
catch e
    print e
end
try
    filter([1], [0,1], [1])
catch e
    print e
end
print unwrap(float64([0,pi,0,-pi,3.5]))
try
    print hilbert([])
catch e
    print e
end
try
    spectrogram(0..9, 4, 2, [1,2])
catch e
    print e
end
