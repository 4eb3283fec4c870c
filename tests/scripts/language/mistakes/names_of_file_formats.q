% exit: 1
a = dicomread("a.dcm")
b = niftiread("a.nii")
c = h5disp("a.h5")
d = loadmat("a.mat")
e = savemat("a.mat", a)
f = read_csv("a.csv")
g = wavread("a.wav")
h = xlsread("a.xlsx")
