% Built-in names and names defined later resolve; a call before the definition is an error that says so.
import "Quasar.UI.dll"
import "Quasar.Video.dll"
import "Sim2HDR.dll"
import "TIFFIO.dll"
import "../../lib/bin/EXR_lib.dll"
function [] = show(f)
    try
        f()
    catch e
        print e
    end
end
show(() -> vidreadframe(0))
show(() -> vidseek(0, 7))
show(() -> exrread("a.exr").data)
show(() -> exrwrite("a.exr", zeros(2,2,3)))
show(() -> tiffread("there is none.tif", 0..3).slices)
line : qplot = [1,2]
print line, " ", isnull(hdr_imshow(zeros(4,4,3), [0,1]))
