% prompt: yes
% ?name shows the head of a function on one line as it is written; a comment in a module may replace it by ":function …".
function [y, n] = blur(img : mat, radius : int = 3, _
                       border : string = "mirror",
                       ...more)
    y = img
    n = radius
end
?blur
twice = x -> 2*x
?twice
?imfill
?imwarp
