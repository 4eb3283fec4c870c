% Module: video.q
% The names of Quasar.Video.dll.  Videos are not read yet: programs that import it can be checked, and say so when they
% come to the first of these.

% Function: vidopen
% Not there yet: opens a video, an object with frame_width, frame_height, avg_frame_rate, duration_sec and rgb_data.
%
% :function stream = vidopen(path : string)
function stream = vidopen(path : string)
    stream = null
    error("vidopen: videos cannot be read yet, ", path, " neither; imread reads images")
end

% Function: vidreadframe
% Not there yet: reads the next frame of a video into rgb_data; whether there was one.
%
% :function more = vidreadframe(stream)
function more = vidreadframe(stream)
    more = false
    error("vidreadframe: videos cannot be read yet")
end

% Function: vidseek
% Not there yet: goes to a time of a video, in seconds.
%
% :function [] = vidseek(stream, seconds : scalar)
function [] = vidseek(stream, seconds)
    error("vidseek: videos cannot be read yet")
end
