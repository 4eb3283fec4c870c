% Module: sim2hdr.q
% The names of Sim2HDR.dll, which drives a monitor of high dynamic range.

% Function: hdr_imshow
% Shows an image on an ordinary screen, as imshow does.
%
% :function handle = hdr_imshow(img : cube, range : vec = [])
function handle = hdr_imshow(img, range = [])
    handle = imshow(img, range)
end
