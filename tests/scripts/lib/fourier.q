% tolerance: 1e-4
print fft1([1,2,3,4]), " ", real(ifft1(fft1([1,2,3,4,5])))
print abs(fft1(ones(8))), " ", type(fft1([1,2]))
A = [[1,2],[3,4]]
print fft2(A), " ", real(ifft2(fft2(A))), " ", fft1(A, 0), fft1(A, 1), fft1(A)
C = reshape(0..7, [2,2,2])
print abs(fft3(C))[0,0,0], " ", max(abs(real(ifft3(fft3(C))) - C)) < 1e-5
print fftshift1(0..4), ifftshift1(fftshift1(0..4)), fftshift2([[0,1,2],[3,4,5]]), " ", all(ifftshift2(fftshift2(A)) == A), all(ifftshift3(fftshift3(C)) == C)
n = 97
x = rand(n)
print max(abs(real(ifft1(fft1(x))) - x)) < 1e-5, " ", abs(sum(abs(fft1(x)).^2)/n - sum(x.^2)) < 1e-3
