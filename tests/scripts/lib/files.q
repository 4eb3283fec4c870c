% devices: one
chdir(getenv("QUASAR_TEST_DIR"))
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
function x = table(text, separator = null)
    filewrite("out/lib/t.csv", strrep(text, "/", chr(10)))
    x = csvread("out/lib/t.csv", separator)
end
print table("time, 1st, nano/1637512345.25, -1, nan/"), table("1 2  3/ 4  5 " + chr(9) + "6 /", " "), table("x y/1 2", " "), table(",1/2,"), table(",/1,2")
print type(table("1")), size(table("a,b")), table("1e3"+chr(9)+chr(9)+"2", chr(9))
csvwrite("out/lib/t.csv", horzcat(int64([9007199254740992])+int64([1]), int64([-1])))
print fileread("out/lib/t.csv"), isequal(table("0.1"), float64([0.1]))
for text = {"a,b/c,d", "1,2/a,b", "1 2", "1,2/3"}
    try
        table(text)
    catch e
        print e
    end
end
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
