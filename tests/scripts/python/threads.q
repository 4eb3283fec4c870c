% needs: python
% devices: one
% Any Python thread may call script functions; a loop of the script lets other threads run.
m = pyimport("helper")
threading = pyimport("threading")
time = pyimport("time")
py = pyimport("builtins")
print m.in_threads(x -> x*x, 8)
function y = slow(x)
  time.sleep(0.01)
  s = 0
  for i=1..1000
    s += i
  end
  time.sleep(0.01)
  y = x + s
end
print m.in_threads(slow, 8)
n = py.list({0})
function [] = work()
  for i=1..20
    n[0] = n[0] + 1
    time.sleep(0.001)
  end
end
t = threading.Thread(target:=work)
t.start()
s = 0
while n[0] < 20
  s += 1
end
t.join()
print n
