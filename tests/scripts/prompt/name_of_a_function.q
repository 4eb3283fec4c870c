% prompt: yes
tic
x = 3;
x
x == 3
