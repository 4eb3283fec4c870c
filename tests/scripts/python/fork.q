% needs: python
% A child process made by fork continues with its copy of the script.
os = pyimport("os")
sys = pyimport("sys")
x = [1,2,3]
function y = twice(v)
    y = 2*v
end
print "before"
sys.stdout.flush()
pid = os.fork()
if pid == 0
    y = twice(x)
    for i = 0..9
        y = y + i
    end
    code = sum(y) == 147 ? 7 : 1
    os._exit(pyint(code))
end
[waited, status] = os.waitpid(pyint(pid), pyint(0))
print waited == pid, " ", os.waitstatus_to_exitcode(pyint(status)), " ", twice(x)
multiprocessing = pyimport("concurrent.futures")
context = pyimport("multiprocessing").get_context("fork")
pool = multiprocessing.ProcessPoolExecutor(pyint(2), mp_context:=context)
pool.enter()
print pyimport("builtins").list(pool.map(pyimport("math").factorial, pyimport("builtins").range(pyint(6))))
pool.exit()
