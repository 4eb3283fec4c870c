% devices: one
% BMP: imread returns the data that imwrite wrote; files with bits, runs and masks, made byte by byte; damaged files.
chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib")
path = "out/lib/t.bmp"
function s = le(x, n)
    s = ""
    for i = 1..n
        s = strcat(s, chr(mod(x, 256)))
        x = floor(x/256)
    end
end
function s = bytes(x)
    s = ""
    for b = x
        s = strcat(s, chr(b))
    end
end
function s = info(width, height, bits, compression, colors, behind)
    s = strcat("BM", le(0, 8), le(54 + numel(behind), 4), le(40, 4), le(mod(width, 2^32), 4), le(mod(height, 2^32), 4),
               le(1, 2), le(bits, 2), le(compression, 4), le(0, 12), le(colors, 4), le(0, 4), bytes(behind))
end
function [] = show(text)
    filewrite(path, text)
    try
        x = imread(path)
        print size(x), " ", x
    catch e
        print e
    end
end
% round trip, with widths that need padding
for width = {1, 2, 3, 4, 5}
    gray = mod(reshape(0..7*width-1, [7,width])*37, 256)
    rgb = cat(2, gray, 255-gray, mod(3*gray, 256))
    imwrite(path, gray)
    write(all(imread(path) == gray), ndims(imread(path)))
    imwrite(path, rgb)
    write(all(imread(path) == rgb), ndims(imread(path)))
    imwrite(path, cat(2, rgb, flipud(gray)))
    [img, alpha] = imread(path)
    write(all(img == rgb), all(alpha == flipud(gray)))
    imwrite(path, cat(2, gray, flipud(gray)))
    [img, alpha] = imread(path)
    write(all(img == cat(2, gray, gray, gray)), all(alpha == flipud(gray)), " ")
end
print ""
imwrite(path, [[300,-5],[1.5,100.4]])
print imread(path), " ", imfinfo(path).format, imfinfo(path).channels, imfinfo(path).width, imfinfo(path).depth
% 1 bit, black and white: a matrix, from the bottom up
bw = [0,0,0,0, 255,255,255,0]
show(strcat(info(10, 2, 1, 0, 2, bw), bytes([170,64,0,0, 240,0,0,0])))
% 4 bits, three colours, from the top down
colors = [0,0,255,0, 0,255,0,0, 9,8,7,0]
show(strcat(info(3, -2, 4, 0, 3, colors), bytes([1,32,0,0, 33,0,0,0])))
% runs of 8 bits: a run, literals, a jump, the end of a line
show(strcat(info(6, 3, 8, 1, 3, colors), bytes([4,1, 0,0, 0,3,0,1,2,0, 0,0, 0,2,2,0, 2,2, 0,1])))
% runs of 4 bits
show(strcat(info(5, 2, 4, 2, 3, colors), bytes([5,16, 0,0, 0,5,1,32,16,0, 0,1])))
% 16 bits: five for each colour, and masks for 5, 6, 5
show(strcat(info(2, 1, 16, 0, 0, []), le(31744 + 31, 2), le(512, 2)))
show(strcat(info(2, 1, 16, 3, 0, [0,248,0,0, 224,7,0,0, 31,0,0,0]), le(63488 + 31, 2), le(1024, 2)))
% 32 bits: the fourth byte is ignored
show(strcat(info(1, 1, 32, 0, 0, []), bytes([1,2,3,200])))
% the header of OS/2
show(strcat("BM", le(0, 8), le(26 + 6, 4), le(12, 4), le(2, 2), le(1, 2), le(1, 2), le(1, 2), bytes([1,2,3, 4,5,6, 64,0,0,0])))
% damaged
show(strcat(info(3, 2, 24, 0, 0, []), bytes(0..22)))
show(info(3, 2, 24, 0, 0, []))
show(info(0, 2, 24, 0, 0, []))
show(info(-3, 2, 24, 0, 0, []))
show(info(2^31-1, 2^31-1, 24, 0, 0, []))
show(info(2^31-1, -2^31, 1, 0, 2, bw))
show(info(3, 2, 24, 1, 0, []))
show(info(3, 2, 24, 5, 0, []))
show(info(3, 2, 7, 0, 0, []))
show(info(3, 2, 8, 0, 0, [1,2,3]))
show(info(3, 2, 32, 3, 0, [1,2,3]))
show(strcat(info(3, 2, 8, 1, 3, colors), bytes([4,1, 0,9, 1])))
show(strcat(info(3, 2, 8, 1, 3, colors), bytes([0,2, 1])))
show("BM123456789")
whole = strcat("BM", le(0, 8), le(60, 4), le(40, 4), le(2, 4), le(1, 4), le(1, 2), le(24, 2), le(0, 24), "abcdefgh")
for n = 1..numel(whole)-9
    filewrite(path, substr(whole, 0, n))
    try
        print n, imread(path)
    catch e
        e = 0
    end
end
try
    imwrite(path, ones(2,2), 16)
catch e
    print e
end
