print abs(-3), " ", abs([-1,2]), " ", abs(3+4j), " ", abs([3+4j, -2])
print sqrt(16), " ", sqrt([4,9]), " ", sqrt(-1), " ", cbrt(27)
print exp(0), " ", exp2(3), " ", expm1(0), " ", log(1), " ", log2(8), " ", log10(1000), " ", log1p(0)
print pow(2, 10), " ", pow([1,2,3], 2), " ", pow(2, [1,2,3])
print sin(0), cos(0), tan(0), asin(0), acos(1), atan(0), " ", atan2(1, 1) - pi/4, " ", atan2([0,1],[1,0])
print sinh(0), cosh(0), tanh(0), asinh(0), acosh(1), atanh(0), " ", hypot(3,4), " ", hypot([3,5],[4,12])
print erf(0), erfc(0), lgamma(1), " ", tgamma(5)
print floor(-1.5), " ", ceil(-1.5), " ", round(2.5), round(-2.5), " ", trunc(-1.7), " ", floor([1.5,-0.5])
print frac(-0.25), " ", frac([1.25,-1.25])
print sign(-3), sign(0), sign(5), " ", sign([-2,0,2])
print softsign([-1,0,3]), " ", softsign(complex(3,4)), " ", softsign([inf,-0.0])
print saturate([-1,0.25,2]), " ", clamp([-1,100,300], 255), " ", clamp([-1,5,9], 2, 6), " ", clamp(7, 5)
print lerp(10, 20, 0.25), " ", lerp([1,2],[3,4],[1,0])
print nextpow2(129), " ", nextpow2(128), " ", nextpow2([1,3,1000]), " ", nextpow2(0.3)
print log(0), " ", -log(0), " ", log(-1)
print isnan([0/0, 1, 1/0]), isinf([0/0, 1, -1/0]), isfinite([0/0, 1, 1/0]), " ", isnan(nan), isfinite(1+2j)
print sqrt(complex(-4)), " ", exp(1j*pi), " ", log(complex(-1)), " ", floor(1.5+2.5j)
print pi, " ", inf, " ", nan, " ", eps, " ", maxint, " ", minint, " ", true, false, " ", null, " ", nullptr

print rsqrt([4,0,-1]), " ", factorial([0,1,5,2.5,12,-1]), " ", factorial(20) - 2432902008176640000, " ", factorial(170) > 7e306
print erfinv([0,0.5,-0.5,0.999,1,-1,2]), " ", erfcinv([1,0.5,1.5,1e-30,0,2,-1])
worst = 0
for k = 1..400
    y = float64([k/201 - 1])
    worst = max(worst, abs(erf(erfinv(y)) - y)[0])
    y = float64([exp(-k)])
    worst = max(worst, abs(erfc(erfcinv(y))./y - 1)[0]/1000)
end
print worst < 1e-15, " ", mirror_ext(-5..8, 4), " ", mirror_ext(int([-1,9]), 3)
print mirror_ext(3, 0), " ", mirror_ext(int(7), int(0))
