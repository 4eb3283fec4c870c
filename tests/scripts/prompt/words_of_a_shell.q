% prompt: yes
% exit: 1
cd ..
cd /tmp
ls
print 1 ..
3
