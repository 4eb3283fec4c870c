% Elementwise functions of the library give each element of a matrix or cube what they give in a vec.
function [] = same(name, f, x)
    one = reshape(f(x), [1,numel(x)])
    for s = {[3,4], [2,3,2], [12,1], [1,2,6]}
        y = f(reshape(x, s))
        if !isequal(size(y), s)
            print name, ": size ", size(y), " of ", s
        endif
        if sum(reshape(y, [1,numel(x)]) != one) > 0
            print name, ": other elements in size ", s
        endif
    end
end
n = [2,3,4,5,9,11,25,1,0,7,12,49]
x = float64(n)/8 - 2
same("isprime", v -> isprime(v), n)
same("gcd", v -> gcd(v, 12), n)
same("lcm", v -> lcm(v, 12), n)
same("sigmoid", v -> sigmoid(v), x)
same("relu", v -> relu(v), x)
same("gelu", v -> gelu(v), x)
same("silu", v -> silu(v), x)
same("elu", v -> elu(v), x)
same("leaky_relu", v -> leaky_relu(v), x)
same("softplus", v -> softplus(v), x)
same("csencodeSRGB", v -> csencodeSRGB(v), x)
same("csdecodeSRGB", v -> csdecodeSRGB(v), x)
same("csencodeRec709", v -> csencodeRec709(v), x)
same("csdecodeRec2020", v -> csdecodeRec2020(v), x)
same("float_to_uint8", v -> float_to_uint8(v), 100*x)
print "compared"
