% needs: python
% devices: one
py = pyimport("builtins")
sys = pyimport("sys")
print 1
py.print(2)
nl = py.chr(pyint(10))
printf("%d%s", 3, nl)
sys.stdout.write("4" + nl)
sys.stdout.buffer.write(py.bytes("5" + nl, "ascii"))
print 6
py.print("7", end:="")
print
for i = 8..10
  print i
  py.print("-")
end
print sys.stdout.isatty(), sys.stdout.encoding
