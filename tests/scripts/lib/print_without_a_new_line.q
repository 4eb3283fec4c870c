% devices: one
% write does not end the line
write("a", 1, " ", [1,2])
write(" b\n")
print ""
printf("%d%%", 50)
flush()
chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib")
f = fopen("out/lib/flushed.txt", "w")
fprintf(f, "seen")
flush(f)
print fileread("out/lib/flushed.txt")
fclose(f)
try
    flush(f)
catch e
    print e
end
