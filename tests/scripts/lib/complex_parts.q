z = [3+4j, -1, 2j]
print real(z), imag(z), conj(z)
print abs([complex(-inf,nan), complex(nan,1), complex(3e38,0), complex(3e-40,4e-40), -0j])
print angle(1j) - pi/2, " ", angle(-1) - pi, " ", angle(3)
print complex(1,2), " ", complex([1,2],[3,4]), " ", complex([1,2], 0), " ", type(complex([1,2]))
print complex(1,inf), complex([1,nan],[inf,3]), complex(-0.0,-0.0), complex([[1],[2]],[3,-0.0])
print real(5), imag(5), conj(5), " ", real([1,2]), imag([1,2])
print type(real(z)), " ", type(abs(z)), " ", type(z)
