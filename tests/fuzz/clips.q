% small videos of every kind that can be written, for fuzz_video
import "Quasar.Video.dll"
function [] = clip(name, codec, bits, channels)
    try
        w = vidcreate(name, 12, codec, bits)
        for n = 0..5
            x = mod(reshape(0..16*24*channels-1, [16,24,channels])*(n+1), 2^bits)
            vidwrite(w, channels == 1 ? x[:,:,0] : x)
        end
        vidclose(w)
    catch e
        print name, ": ", e
    end
end
clip("a.mkv", "ffv1", 8, 3)
clip("b.mkv", "ffv1", 10, 3)
clip("c.mkv", "ffv1", 8, 1)
clip("d.mkv", "ffv1", 16, 1)
clip("e.mp4", "", 8, 3)
clip("f.mp4", "mpeg4", 8, 3)
clip("g.mkv", "mpeg2video", 8, 3)
clip("h.avi", "mjpeg", 8, 3)
clip("i.avi", "huffyuv", 8, 3)
clip("j.gif", "", 8, 3)
clip("k.ts", "mpeg2video", 8, 3)
clip("l.webm", "", 8, 3)
clip("m.mov", "png", 8, 3)
clip("n.mp4", "", 10, 3)
clip("o.flv", "", 8, 3)
