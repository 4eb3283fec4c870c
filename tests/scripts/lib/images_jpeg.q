% devices: one
% needs: jpeg
chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib")
[x, y] = meshgrid(0..63, 0..47)
img = cat(2, 2*x + y, 255 - 3*x, 100 + 0*x)
imwrite("out/lib/a.jpg", img, 95)
back = imread("out/lib/a.jpg")
print size(back), " ", sqrt(mean((back - img).^2)) < 3
imwrite("out/lib/a.jpg", 2*x)
print size(imread("out/lib/a.jpg")), " ", max(abs(imread("out/lib/a.jpg") - 2*x)) < 8
deletefile("out/lib/a.jpg")
