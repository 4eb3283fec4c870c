% options: --precision 64
% devices: ref
% Complex functions on the axes and at 0; complex_code.q runs some of them on every device.
import "axes.q"

check_twice("sqrt", sqrt), check_twice("exp", exp), check("exp2", exp2), check("log", log)
check("log2", log2), check("log10", log10), check("sinh", sinh), check("cosh", cosh)
check("tanh", tanh), check("sin", sin), check("cos", cos), check("tan", tan)
check_twice("asin", asin), check("acos", acos), check("asinh", asinh), check("acosh", acosh)
check_twice("atanh", atanh), check("atan", atan), check_twice("z^z", z -> z.^z), check("2^z", z -> 2.^z)
check("z^(2+i)", z -> z.^(2+1i)), check("1/z", z -> 1./z)
check("a fused one", z -> z.^2.*exp(-z) + sqrt(z)./cosh(z))

% at 0
at_0 = f -> slope(f, complex([0.0],[0.0]))[0]
print at_0(z -> z.^1), " ", at_0(z -> z.^2), " ", at_0(z -> 2.^z), " ", at_0(z -> z.^(2*z + 3)), " ", at_0(atan), " ",
      at_0(sin)
print isfinite([real(at_0(sqrt)), real(at_0(log)), real(at_0(z -> z.^0.5)), real(at_0(z -> z.^(1+1i)))])
print "checked"
