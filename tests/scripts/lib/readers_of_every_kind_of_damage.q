% devices: one
% needs: tiff
% needs: png
% needs: jpeg
% needs: zlib
% Each reader of each format: an empty file, one byte, an empty device, a folder, a truncated file, and
% one with a wrong byte.  A reader returns a value or raises an error with its name; none ends the process or hangs.
chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib/damage")
randseed(11)
gray = round(255*rand(5,7))
rgb = round(255*rand(6,5,3))
paths = {"a.png","a.jpg","a.tif","b.tif","a.bmp","b.bmp","a.pgm","a.ppm","a.npy","a.npz","a.csv","a.json","a.gif","a.hdr","a.mat","a.wav","b.csv"}
for i = 0..numel(paths)-1
    paths[i] = strcat("out/lib/damage/", paths[i])
end
imwrite(paths[0], rgb)
imwrite(paths[1], rgb)
imwrite(paths[2], {gray, gray+1})
imwrite(paths[3], rgb, 32)
imwrite(paths[4], gray)
imwrite(paths[5], cat(2, rgb, rgb[:,:,0]))
imwrite(paths[6], gray)
imwrite(paths[7], rgb)
save(paths[8], gray)
save(paths[9], "a", gray, "text", "letters")
csvwrite(paths[10], gray)
filewrite(paths[11], jsonencode({gray, "text", 5}))
imwrite(paths[12], {rgb, rgb+1})
imwrite(paths[13], cat(1, rgb, rgb))
save(paths[14], "a", gray, "text", {"letters", 1})
audiowrite(paths[15], gray/256, 8000)
filewrite(paths[16], sprintf("name,x\n""a, b"",1\nc,\n"))
readers = {"imread", "imfinfo", "tiffread", "load", "csvread", "jsondecode", "audioread", "readtable"}
function y = read(reader, path)
    match reader with
    | "imread" -> y = imread(path)
    | "imfinfo" -> y = imfinfo(path)
    | "tiffread" -> y = tiffread(path)
    | "load" -> y = load(path)
    | "csvread" -> y = csvread(path)
    | "audioread" -> y = audioread(path)
    | "readtable" -> y = readtable(path)
    | "jsondecode" -> y = jsondecode(fileread(path))
    end
end
% 0: a value; 1: an error that begins with the name of the reader; any other error itself
function y = outcome(reader, path)
    y = 0
    try
        read(reader, path)
    catch e
        said = sprintf("%s", e)
        y = startswith(said, strcat(reader, ":")) || (reader == "jsondecode" && startswith(said, "fileread:")) ? 1 : said
    end
end
function [] = check(reader, path, what)
    y = outcome(reader, path)
    if type(y) == "string"
        print reader, " of ", what, ": ", y
    endif
end
cut = "out/lib/damage/cut.bin"
filewrite(cut, "")
one = "out/lib/damage/one.bin"
filewrite(one, "x")
for reader = readers
    write(reader, ":")
    for path = {cut, one, "/dev/null", "out/lib/damage", "out/lib/damage/nothing.bin"}
        write(" ", outcome(reader, path))
    end
    print ""
end
% the readers for each file
function list = readers_for(path)
    list = endswith(path, ".tif") ? {"imread", "imfinfo", "tiffread"} : {"imread", "imfinfo"}
    if endswith(path, ".npy") || endswith(path, ".npz") || endswith(path, ".mat")
        list = {"load"}
    elseif endswith(path, ".csv")
        list = {"csvread", "readtable"}
    elseif endswith(path, ".wav")
        list = {"audioread"}
    elseif endswith(path, ".json")
        list = {"jsondecode"}
    endif
end
density = isempty(getenv("QUASAR_DAMAGE")) ? 24 : str2num(getenv("QUASAR_DAMAGE")) % places in a file
for path = paths
    whole = fileread(path)
    n = strlen(whole)
    for k = 0..max(1, floor(n/density))..n-1
        filewrite(cut, substr(whole, 0, k))
        filewrite(one, strcat(substr(whole, 0, k), chr(xor(ord(substr(whole, k, 1)), 1 + mod(37*k, 255))), substr(whole, k+1)))
        for reader = readers_for(path)
            check(reader, cut, strcat(path, " that ends after ", num2str(k)))
            check(reader, one, strcat(path, " with another byte ", num2str(k)))
        end
    end
end
print "done"
