% devices: one
% WAV files, tables with names, MAT-files, GIF and HDR images: what is written is read back; tests/python/test_files.py
% compares them with other programs.
chdir(getenv("QUASAR_TEST_DIR"))
x = transpose([[0,0.5,-1,1],[0.25,-0.5,0.125,0]])
for bits = {8, 16, 24, 32, 64}
    audiowrite("a.wav", x, 44100, bits)
    [y, rate] = audioread("a.wav")
    print rate, " ", max(abs(y-x)) <= 2^(1-bits), " ", type(audioread("a.wav", "native")), " ", audioinfo("a.wav")
end
audiowrite("v.wav", int16([1,-2,3]), 8000)
print size(audioread("v.wav")), audioread("v.wav", "native")
t = object()
t.name = {"a", "b,c", ""}
t.x = [0.1, nan, 1e20]
t.n = int64([1, 2, 3]) + 9007199254740992
t.ok = t.n > 9007199254740993
writetable(t, "t.csv")
write(fileread("t.csv"))
print readtable("t.csv"), type(readtable("t.csv").n)
writetable(t, "t.txt", ";")
print isequal(readtable("t.txt").n, t.n), " ", readtable("t.txt", ";").name
m = object()
m.gray = uint8([[1,2,3],[4,5,6]])
m.z = [1+2i, 3]
m.list = {t, "text", {}, null, true}
save("m.mat", m)
r = load("m.mat")
print r.gray, type(r.gray), r.z, r.list[1], r.list[4], r.list[0].name
print load("m.mat", "z")
imwrite("a.gif", {m.gray, 7-m.gray}, 0.2)
print imread("a.gif"), imread("a.gif", 1), imfinfo("a.gif").pages
light = 2^-20*repmat([1,2,4,255], [2,3])
imwrite("l.hdr", light)
h = imread("l.hdr")
print isequal(h[:,:,0], light), isequal(h[:,:,2], light), size(h)
