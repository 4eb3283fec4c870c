% exit: 1
c = {1}
c += {2}
