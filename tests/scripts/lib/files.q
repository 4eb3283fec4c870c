% devices: one
makedir("out/lib/deep")
path = "out/lib/deep/a.txt"
f = fopen(path, "w")
fprint(f, "one ", 1)
fprintf(f, "%d,%d\n", 2, 3)
fwrite(f, "last")
fclose(f)
f = fopen(path)
print fgets(f), "|", fgets(f), "|", feof(f), "|", fgets(f), "|", feof(f), isnull(fgets(f))
fclose(f)
print fileread(path)
filewrite(path, "bytes")
f = fopen(path)
print fread(f, 2), fread(f), f
print isfile(path), isfile("out/lib/deep"), isdir("out/lib/deep"), exist(path), exist("nowhere")
print listdir("out/lib/deep")
csvwrite("out/lib/t.csv", [[1,2.5],[0/0,-4e10]])
print csvread("out/lib/t.csv")
filewrite("out/lib/t.csv", "# head" + chr(10) + "1; 2" + chr(10) + chr(10) + "3;4" + chr(13) + chr(10))
print csvread("out/lib/t.csv", ";")
filewrite("out/lib/t.csv", "1,2" + chr(10) + "3,x")
try
    csvread("out/lib/t.csv")
catch e
    print e
end
try
    fclose(f)
    print fread(f)
catch e
    print e
end
try
    fopen("nowhere/x")
catch e
    print e
end
deletefile(path); deletefile("out/lib/t.csv"); deletefile("out/lib/deep")
print exist(path)
