% needs: python video
% devices: one
% While a thread waits to open a video, here a pipe into which another thread writes, others run script functions.
threading = pyimport("threading")
os = pyimport("os")
tempfile = pyimport("tempfile")
py = pyimport("builtins")
folder = tempfile.mkdtemp()
path = pathjoin(folder, "pipe.mkv")
os.mkfifo(path)
turns = object()
turns.n = 0
function [] = write_later()
  for i = 1..20
    turns.n += 1
    sleep(5)
  end
  f = py.open(path, "w")
  f.write("no video")
  f.close()
end
t = threading.Thread(target:=write_later)
t.start()
try
  vidopen(path)
catch e
  print strfind(e, "pipe.mkv") > 0
end
t.join()
print turns.n
pyimport("shutil").rmtree(folder)
