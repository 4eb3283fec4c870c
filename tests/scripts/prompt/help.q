% prompt: yes
% devices: one
% exit: 1
?imresize
import "imresize.q"
?imresize
?sort
?argsort
?json
? covariance
?wavelet
?nothing_like_it
?sortt
x = [1,2]
?x
zeros(0,3)
zeros(30,40,3)
cell(60)
hold on
