% The functions of planes.q are the library's own: a derivative does not load the file, a convolution calls loaded ones.
folder = "out/lib/planes_module"
for d = devices()
    folder = d.current ? strcat(folder, "_", d.kind) : folder
end
makedir(folder)
f = fopen(strcat(folder, "/planes.q"), "w")
fprintf(f, "print ""planes.q is read""\nfunction db = sums_of_planes(dy)\n    db = 7\nend\n")
fprintf(f, "function db = planes_bias(dy)\n    db = 7\nend\n")
fclose(f)
setenv("QUASAR_PATH", folder)
print grad(x -> sum(cumsum(x).^2), [1,2,3])     % a rule of adjoints.q
for i = 1..2
    print conv_planes_bias(ones(1,1,2,2))
end
