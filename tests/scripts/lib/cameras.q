% needs: video cameras
% devices: one
% Devices are live: frames arrive in real time, without an end and without seeking.  There is no camera here; pictures
% that FFmpeg generates at the speed of display arrive in the same way.
import "Quasar.Video.dll"
function [] = fails(f)
    try
        f()
        print "nothing is wrong"
    catch e
        print e
    end
end
s = vidopen("lavfi:testsrc=size=64x48:rate=50")
print s.frame_width, "x", s.frame_height, ", ", s.avg_frame_rate, " a second, ", s.frames, " frames in ", s.duration_sec, " s"
fails(() -> vidseek(s, 0))
vidreadframe(s)
first = s.rgb_data
print s.pts < 5, " ", size(first), " ", max(first), " ", min(first)
pause(500)          % what a program does not take in time is left out: it sees what is now
vidreadframe(s)
print s.pts > 0.25 && s.pts < 5, " ", max(abs(float(first) - float(s.rgb_data))) > 0
s.bits_per_color = 10
vidreadframe(s)
print s.bits_per_color, " ", type(s.rgb_data, "cube[uint16]"), " ", max(s.rgb_data) > 1000
vidclose(s)
fails(() -> vidreadframe(s))
% A device that ends.
s = vidopen("lavfi:testsrc=size=64x48:rate=50:duration=0.1")
n = 0
while vidreadframe(s)
    n += 1
end
print n <= 5 && n > 0, " ", vidreadframe(s)
% Devices that do not exist.
fails(() -> vidopen("camera:99"))
fails(() -> vidopen("/dev/video99", [480,640], 30))
fails(() -> vidopen("lavfi:nothing"))
fails(() -> vidopen("lavfi:testsrc", [480,640]))
fails(() -> vidopen("lavfi:testsrc", [], 30))
fails(() -> vidopen("camera:99", [480,640,3]))
fails(() -> vidopen("camera:99", [480.5,640]))
fails(() -> vidopen("camera:99", [480,nan]))
fails(() -> vidopen("camera:99", "large"))
fails(() -> vidopen("camera:99", [480,640], nan))
% The name of a file opens the file.
fails(() -> vidopen("./camera:0"))
