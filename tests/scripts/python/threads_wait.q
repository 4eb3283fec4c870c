% needs: python
% devices: one
% While a thread waits in the script, or computes with private data, other threads run script functions.
threading = pyimport("threading")
py = pyimport("builtins")
done = py.list()
function [] = work(k)
  for i = 1..5
    sleep(1)
    x = ones(80,80)
    x[0,0] = k
    try
      sleep(1)
      y = inv(x + 100*eye(80))
      error(sprintf("%d", k))
    catch e
      done.append(e == sprintf("%d", k) && size(y,0) == 80)
    end
  end
end
threads = cell(4)
for k = 0..3
  threads[k] = threading.Thread(target:=work, args:=py.tuple({k}))
  threads[k].start()
end
while py.len(done) < 20
  sleep(5)
end
for k = 0..3
  threads[k].join()
end
print py.len(done), " ", py.all(done)

% A wait of 400 ms, in which another thread gets control many times.
turns = object()
turns.n = 0
turns.ended = false
function [] = count()
  while !turns.ended
    turns.n += 1
    sleep(1)
  end
end
t = threading.Thread(target:=count)
t.start()
sleep(400)
turns.ended = true
t.join()
print turns.n > 5
