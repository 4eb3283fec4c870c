% Module: openexr.q
% The names of exr_lib.dll.  OpenEXR files are not read yet: programs that import it can be checked, and say so when they
% come to the first of these.

% Function: exrread
% Not there yet: reads an OpenEXR image, an object with the field data.
function img = exrread(path : string)
    img = null
    error("exrread: OpenEXR files cannot be read yet, ", path, " neither; OpenEXR = pyimport(""OpenEXR"") reads them, and imread reads .hdr")
end

% Function: exrwrite
% Not there yet: writes an OpenEXR image.
%
% :function [] = exrwrite(path : string, img : cube)
function [] = exrwrite(path : string, img)
    error("exrwrite: OpenEXR files cannot be written yet, ", path, " neither; imwrite writes floats to .hdr and, with 32 bits, .tif")
end
