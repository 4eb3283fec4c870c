% part
for i=0..9
    last_in_part = i*2
end
