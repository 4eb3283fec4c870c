% An array without elements still has a shape and a type.
print size(diff(zeros(0,4),1)), size(diff(zeros(4,0),0)), size(diff(zeros(1,0),1)), size(diff(zeros(3,0,2),0))
print size(max(0,zeros(0,3))), size(max(zeros(0,3),0)), size(min(zeros(1,3),zeros(0,3))), max([[3],[4]],[],0)
print type(cat(0,czeros(0),czeros(0))), " ", type(vertcat(uint8([]),uint8([]))), " ", type(horzcat(czeros(0),[1,2]))
