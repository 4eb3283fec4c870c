% prompt: yes
help sin
doc sin
?arange
?cellfun
