% needs: video
% devices: one
% A clip made by the test: exact reading and seeking, in 8 and 10 bits, in colour and in grey.
import "Quasar.Video.dll"
folder = getenv("QUASAR_TEST_DIR")
clip = pathjoin(folder, "clip.mkv")
function img = frame(n)
    img = zeros(36, 50, 3)
    img[:,:,0] = 10*n
    img[:,:,1] = mod(reshape(0..36*50-1, [36,50]), 256)
    img[n,:,2] = 255
end
w = vidcreate(clip, 20, "ffv1")
for n = 0..19
    vidwrite(w, frame(n))
end
vidclose(w)
s = vidopen(clip)
print s.frame_width, " ", s.frame_height, " ", s.avg_frame_rate, " ", s.duration_sec, " ", s.bits_per_color
try
    s.rgb_data
catch e
    print e
end
worst = 0
n = 0
while vidreadframe(s)
    worst = max(worst, max(abs(float(s.rgb_data) - frame(n))))
    if abs(s.pts - n/20) > 0.0011
        print "time ", s.pts, " of frame ", n
    end
    n += 1
end
print n, " frames, worst ", worst, " ", type(s.rgb_data, "cube[uint8]"), " ", vidreadframe(s)
for t = {0.5, 0.52, 0.95, 0, 0.3}
    print vidseek(s, t), " ", vidreadframe(s), " ", s.rgb_data[0,0,0]/10
end
% A frame that the program keeps does not share memory with the next one.
vidseek(s, 0)
vidreadframe(s)
first = s.rgb_data
vidreadframe(s)
print max(abs(float(first) - frame(0))), " ", max(abs(float(s.rgb_data) - frame(1)))
% More bits than the video has: the same picture in 16-bit samples.
s.bits_per_color = 10
vidreadframe(s)
print s.bits_per_color, " ", type(s.rgb_data, "cube[uint16]"), " ", max(abs(float(s.rgb_data)*255/1023 - frame(2))) < 1
vidclose(s)
vidclose(s)
try
    vidreadframe(s)
catch e
    print strfind(e, "clip.mkv is closed") > 0
end
% Ten bits, and grey.
w = vidcreate(pathjoin(folder, "ten.mkv"), 25, "ffv1", 10)
x = reshape(mod(0..20*30*3-1, 1024), [20,30,3])
vidwrite(w, x)
vidclose(w)
s = vidopen(pathjoin(folder, "ten.mkv"))
vidreadframe(s)
print s.bits_per_color, " ", max(abs(float(s.rgb_data) - x)), " ", type(s.rgb_data, "cube[uint16]")
w = vidcreate(pathjoin(folder, "grey.avi"), 25, "ffv1")
g = reshape(mod(0..20*30-1, 256), [20,30])
for n = 0..2
    vidwrite(w, uint8(g))
end
vidclose(w)
s = vidopen(pathjoin(folder, "grey.avi"))
vidreadframe(s)
print s.frames, " ", max(abs(float(s.rgb_data) - g)), " ", type(s.rgb_data, "mat[uint8]")
% Codecs for common players are slightly lossy.
w = vidcreate(pathjoin(folder, "lossy.mp4"), 30)
smooth = 128 + 100*reshape(sin((0..64*48*3-1)/500), [48,64,3])
for n = 0..9
    vidwrite(w, smooth)
end
vidclose(w)
s = vidopen(pathjoin(folder, "lossy.mp4"))
vidreadframe(s)
print s.frames, " ", mean(abs(float(s.rgb_data) - smooth)) < 4
% Errors.
function [] = fails(f, path)
    try
        f()
        print "nothing is wrong"
    catch e
        print strrep(e, path, "PATH")
    end
end
fails(() -> vidopen(pathjoin(folder, "absent.avi")), pathjoin(folder, "absent.avi"))
filewrite(pathjoin(folder, "text.avi"), "this is no video")
fails(() -> vidopen(pathjoin(folder, "text.avi")), pathjoin(folder, "text.avi"))
w = vidcreate(pathjoin(folder, "x.mkv"), 25, "ffv1")
vidwrite(w, zeros(10,10))
fails(() -> vidwrite(w, zeros(10,12)), "?")
fails(() -> vidwrite(w, zeros(10,10,3)), "?")
fails(() -> vidcreate(pathjoin(folder, "x.mkv"), 0), "?")
fails(() -> vidcreate(pathjoin(folder, "x.mkv"), 25, "", 7), "?")
% Unknown settings of a new video are errors that list the known ones.
function [] = unknown(name, codec)
    path = pathjoin(folder, name)
    try
        vidcreate(path, 25, codec)
        print "nothing is wrong"
    catch e
        listed = strfind(e, codec == "" ? " .mkv" : " ffv1") > 0
        print strrep(substr(e, 0, strfind(e, ";")), path, "PATH"), " ", listed
    end
end
unknown("x.unknown", "")
unknown("x.wav", "")
unknown("x.mp3", "")
fails(() -> vidcreate("x.png"), "?")
unknown("x.mkv", "nocodec")
unknown("x.mkv", "aac")
unknown("noending", "")
% Containers that do not state their content can be opened.
for name = {"kind.mpg", "kind.ts"}
    w = vidcreate(pathjoin(folder, name), 25, name == "kind.ts" ? "" : "mpeg2video")
    for i = 1..20
        vidwrite(w, ones(64,64,3)*5*i)
    end
    vidclose(w)
    v = vidopen(pathjoin(folder, name))
    vidreadframe(v)
    print name, " ", size(v.rgb_data)
    vidclose(v)
end
% Codecs by their own names; many of them need even sizes.
w = vidcreate(pathjoin(folder, "odd.avi"), 25, "mpeg4")
vidwrite(w, ones(47,64,3))
vidclose(w)
w = vidcreate(pathjoin(folder, "odd.mp4"), 25, "h264")
for img = {ones(47,64,3), ones(48,65)}
    try
        vidwrite(w, img)
        print "nothing is wrong"
    catch e
        print strfind(e, sprintf("even sizes, got %d x %d (height x width); cut or pad", size(img,0), size(img,1))) > 0
    end
end
w = vidcreate(pathjoin(folder, "rate.mpg"), 7.3, "mpeg1video")
try
    vidwrite(w, ones(48,64,3))
    print "nothing is wrong"
catch e
    print strfind(e, "48 x 64 at 7.3 frames a second") > 0
end
fails(() -> vidseek(s, -1), "?")
fails(() -> vidseek(3, 1), "?")
% A truncated file, and one with wrong bytes.
w = vidcreate(pathjoin(folder, "long.avi"), 25, "ffv1")
for n = 0..19
    vidwrite(w, frame(n))
end
vidclose(w)
f = fopen(pathjoin(folder, "long.avi"), "r")
bytes = fread(f)
fclose(f)
f = fopen(pathjoin(folder, "cut.avi"), "w")
fwrite(f, bytes[0..floor(0.6*numel(bytes))])
fclose(f)
function [] = read_all(path)
    s = vidopen(path)
    n = 0
    while vidreadframe(s)
        n += 1
    end
    print n, " frames"
end
fails(() -> read_all(pathjoin(folder, "cut.avi")), pathjoin(folder, "cut.avi"))
f = fopen(clip, "r")
bytes = fread(f)
fclose(f)
middle = floor(numel(bytes)/2)
bytes[middle..middle+100] = 255 - bytes[middle..middle+100]
f = fopen(pathjoin(folder, "bad.mkv"), "w")
fwrite(f, bytes)
fclose(f)
fails(() -> read_all(pathjoin(folder, "bad.mkv")), pathjoin(folder, "bad.mkv"))
% The range of JPEG; and wrong bytes in frames that refer to others are errors, or ignored, and never end the process.
w = vidcreate(pathjoin(folder, "jpeg.avi"), 25, "mjpeg")
vidwrite(w, smooth)
vidclose(w)
s = vidopen(pathjoin(folder, "jpeg.avi"))
vidreadframe(s)
print mean(abs(float(s.rgb_data) - smooth)) < 4
w = vidcreate(pathjoin(folder, "five.mp4"), 12, "mpeg4")
for n = 0..5
    vidwrite(w, mod(reshape(0..16*24*3-1, [16,24,3])*(n+1), 256))
end
vidclose(w)
f = fopen(pathjoin(folder, "five.mp4"), "r")
bytes = fread(f)
fclose(f)
wrong = pathjoin(folder, "wrong.mp4")
for k = 40..7..600
    other = copy(bytes)
    other[k] = mod(other[k] + 175, 256)
    f = fopen(wrong, "w")
    fwrite(f, other)
    fclose(f)
    try
        read_quietly(wrong)
    catch e
        assert(strfind(e, wrong) > 0)
    end
end
function [] = read_quietly(path)
    s = vidopen(path)
    while vidreadframe(s)
        t = s.pts
    end
end
print "still here"
% Frames of different duration: the sixth begins at 0.21 s, not at 0.25, and is shown until 0.3.
path = pathjoin(folder, "rates.mkv")
w = vidcreate(path, 20, "ffv1")
for n = 0..9
    vidwrite(w, 10*n*ones(8,8))
end
vidclose(w)
f = fopen(path, "r")
bytes = fread(f)
fclose(f)
for k = 0..numel(bytes)-5 % a block: its size, its track, two bytes of its time
    if bytes[k] == 163 && bytes[k+2] == 129 && bytes[k+3] == 0 && bytes[k+4] == 250
        bytes[k+4] = 210
    end
end
f = fopen(path, "w")
fwrite(f, bytes)
fclose(f)
s = vidopen(path)
for t = {0.205, 0.28, 0.21, 0.3, 0.45, 0.49}
    vidseek(s, t)
    vidreadframe(s)
    first = s.rgb_data[0,0]
    print first, ", then ", vidreadframe(s) ? s.rgb_data[0,0] : -1
end
vidseek(s, 0.6)
print vidreadframe(s)
% An image per frame.
images = pathjoin(folder, "image%03d.png")
w = vidcreate(images, 25)
for n = 0..4
    vidwrite(w, frame(n))
end
vidclose(w)
s = vidopen(images)
n = 0
while vidreadframe(s)
    assert(isequal(float(s.rgb_data), frame(n)))
    n += 1
end
print n, " images, ", max(abs(imread(pathjoin(folder, "image003.png")) - frame(2)))
% The error message of a container for frames that it does not accept.
w = vidcreate(pathjoin(folder, "x.gxf"), 25)
try
    vidwrite(w, zeros(48,64,3))
    print "nothing is wrong"
catch e
    print strfind(e, "PAL or NTSC") > 0
end
% A stream whose frame size decreases.
parts = {"", ""}
for k = 0..1
    path = pathjoin(folder, sprintf("part%d.mjpeg", k))
    w = vidcreate(path, 25, "mjpeg")
    for n = 0..11
        vidwrite(w, 100*ones(64/(k+1), 96/(k+1), 3))
    end
    vidclose(w)
    f = fopen(path, "r")
    parts[k] = fread(f)
    fclose(f)
end
f = fopen(pathjoin(folder, "both.mjpeg"), "w")
fwrite(f, horzcat(parts[0], parts[1]))
fclose(f)
function [] = largest(path)
    s = vidopen(path)
    while vidreadframe(s)
        assert(max(s.rgb_data) < 110 && isequal(size(s.rgb_data), [64,96,3]))
    end
end
fails(() -> largest(pathjoin(folder, "both.mjpeg")), pathjoin(folder, "both.mjpeg"))
% A part of a file that was cut out without re-encoding: the file contains all frames, and shows some.
w = vidcreate(pathjoin(folder, "whole.mp4"), 25, "mpeg4")
for n = 0..49
    vidwrite(w, 4*n*ones(32,48,3))
end
vidclose(w)
f = fopen(pathjoin(folder, "whole.mp4"), "r")
bytes = fread(f)
fclose(f)
list = -1
for k = 0..numel(bytes)-4
    if isequal(bytes[k..k+3], [101,108,115,116])       % "elst": how long, from which frame; the clock of the file is in ms
        list = k
    end
end
assert(list > 0)
bytes[list+12..list+15] = [0,0,2,88]                   % 600 ms
f = fopen(pathjoin(folder, "part.mp4"), "w")
fwrite(f, bytes)
fclose(f)
s = vidopen(pathjoin(folder, "part.mp4"))
n = 0
while vidreadframe(s)
    n += 1
end
print n, " of ", s.frames, " frames, ", s.duration_sec, " s"
% Containers without a list of their key frames.
for kind = {"ts", "mpg"}
    path = pathjoin(folder, strcat("sought.", kind))
    w = vidcreate(path, 25)
    for n = 0..59
        vidwrite(w, 4*n*ones(32,48,3))
    end
    vidclose(w)
    s = vidopen(path)
    wrong = 0
    for n = [3,30,57,59,0,1,58]
        vidseek(s, n == 0 ? 0 : n/25+0.001)
        right = vidreadframe(s) && round(mean(float(s.rgb_data))/4) == n && abs(s.pts - n/25) < 0.002
        wrong += !right
    end
    print kind, " ", wrong
end
