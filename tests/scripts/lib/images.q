% devices: one
% needs: png
chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib")
img = zeros(4,5,3)
for m = 0..3
    for n = 0..4
        img[m,n,0] = 60*m; img[m,n,1] = 50*n; img[m,n,2] = 7
    end
end
function [] = roundtrip(path, img, option)
    imwrite(path, img, option)
    info = imfinfo(path)
    print info.format, " ", info.height, "x", info.width, "x", info.channels, " ", info.depth, " bits: ", all(imread(path) == img), " ", size(imread(path))
    deletefile(path)
end
roundtrip("out/lib/a.png", img, 8)
roundtrip("out/lib/a.png", 100*img, 16)
roundtrip("out/lib/a.png", img[:,:,0], 8)
roundtrip("out/lib/a.ppm", img, 8)
roundtrip("out/lib/a.ppm", 200*img, 16)
roundtrip("out/lib/a.pgm", img[:,:,1], 8)
imwrite("out/lib/b.png", [[-5, 0.49, 0.5, 254.6, 300]])
print imread("out/lib/b.png")
imwrite("out/lib/b.png", [[1,2],[3,4]] > 2)
print imread("out/lib/b.png")
rgba = cat(2, img, 128*ones(4,5))
imwrite("out/lib/b.png", rgba)
[c, alpha] = imread("out/lib/b.png")
print size(c), " ", alpha[0,0], all(c == img)
deletefile("out/lib/b.png")
try
    imwrite("out/lib/x.webp", img)
catch e
    print e
end
try
    imwrite("out/lib/x.png", ones(2,2,5))
catch e
    print e
end
filewrite("out/lib/c.pbm", "P1# a comment that ends with the file")
try
    print imread("out/lib/c.pbm")
catch e
    print e
end
