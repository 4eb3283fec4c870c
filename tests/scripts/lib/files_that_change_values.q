% Numbers that an image format does not hold are a warning; a table in another encoding than UTF-8 is an error.
chdir(getenv("QUASAR_TEST_DIR"))
imwrite("changed.hdr", [[-1,2],[3,4]])
print imread("changed.hdr")[:,:,0]
imwrite("changed.png", [[0/0,200],[3,4]])
print imread("changed.png")
f = fopen("latin1.csv", "wb")
fprintf(f, "name,x\nfr%s,1\n", chr(233))
fclose(f)
try
    print readtable("latin1.csv")
catch e
    print e
end
