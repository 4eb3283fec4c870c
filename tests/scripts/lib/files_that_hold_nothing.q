% devices: one
% needs: tiff
% Each reader reports an error for an empty file, a file of one byte and an empty device; none ends the process.
chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib")
filewrite("out/lib/none.bin", "")
filewrite("out/lib/one.bin", "x")
function [] = attempt(read)
    for k = 0..2
        path = k == 0 ? "out/lib/none.bin" : k == 1 ? "out/lib/one.bin" : "/dev/null"
        try
            print numel(read(path))
        catch e
            print e
        end
    end
end
attempt(path -> imread(path))
attempt(path -> tiffread(path))
attempt(path -> imfinfo(path))
attempt(path -> load(path))
attempt(path -> csvread(path))
