z = 3+4j
print abs(z), " ", real(z), " ", imag(z), " ", conj(z)
print z*z, " ", z/2, " ", z - 3
v = [1+1j, 2]
print v.*v
print type(z), " ", type(v)
print angle(1j) == pi/2
print sqrt(-1), " ", sqrt(complex(-1,0))
