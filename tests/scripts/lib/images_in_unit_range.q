% An image in [0,1] becomes black, with a warning; other images cause no warning.
chdir(getenv("QUASAR_TEST_DIR"))
imwrite("dark.pgm", [[0,0.5],[1,0.25]])
imwrite("binary.pgm", [[0,1],[1,0]])
imwrite("bright.pgm", [[0,0.5],[200,0.25]])
imwrite("right.pgm", 255*[[0,0.5],[1,0.25]])
print imread("right.pgm")
