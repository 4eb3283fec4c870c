% devices: one
% needs: tiff
chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib")
a = reshape(0..11, [3,4])*20
imwrite("out/lib/a.tif", a)
print all(imread("out/lib/a.tif") == a)
imwrite("out/lib/a.tif", a*200, 16)
print all(imread("out/lib/a.tif") == a*200), " ", imfinfo("out/lib/a.tif").depth
imwrite("out/lib/a.tif", a/7 - 3, 32)
print all(imread("out/lib/a.tif") == a/7 - 3)
imwrite("out/lib/a.tif", {a, a+1, a+2})
print imfinfo("out/lib/a.tif").pages, " ", all(imread("out/lib/a.tif", 2) == a+2)
s = tiffread("out/lib/a.tif").slices
print numel(s), " ", all(s[1] == a+1), " ", numel(tiffread("out/lib/a.tif", [2]).slices)
c = cat(2, a, a+1, a+2)
imwrite("out/lib/a.tif", c)
print all(imread("out/lib/a.tif") == c)
try
    imread("out/lib/a.tif", 5)
catch e
    print e
end
deletefile("out/lib/a.tif")
