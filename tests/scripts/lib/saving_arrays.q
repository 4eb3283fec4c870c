% devices: one
chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib")
x = reshape(0..5, [2,3])
save("out/lib/x.npy", x)
print load("out/lib/x.npy"), " ", type(load("out/lib/x.npy"))
u : cube[uint8] = ones(2,1,2)
save("out/lib/x.npy", u)
print size(load("out/lib/x.npy")), type(load("out/lib/x.npy"))
save("out/lib/x.npz", "a", x, "b", 2.5, "text", "grüße", "z", [1+2j], "i", int(7), "t", true)
o = load("out/lib/x.npz")
print o.a, " ", o.b, " ", o.text, " ", o.z, " ", o.i, o.t
save("out/lib/x.npz", o)
print fieldnames(load("out/lib/x.npz"))
save("out/lib/x.npz", 1, x)
print load("out/lib/x.npz").arr_0, " ", size(load("out/lib/x.npz").arr_1)
filewrite("out/lib/x.npy", "no numbers")
try
    load("out/lib/x.npy")
catch e
    print e
end
deletefile("out/lib/x.npy"); deletefile("out/lib/x.npz")
