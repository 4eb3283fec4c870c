% The Hough transform of edges: lines by angle and distance.
function [edges] = inputs()
    edges = mod(transpose(0..127)*37 + (0..127)*101, 29) == 0
    edges[40,:] = true
end
function acc = with_for(edges)
    [h, w] = size(edges)
    rmax = ceil(sqrt(h*h + w*w))
    acc = zeros(2*rmax+1, 180)
    for y = 0..h-1
        for x = 0..w-1
            if edges[y,x]
                for t = 0..179
                    r = round(x*cos(t*pi/180) + y*sin(t*pi/180)) + rmax
                    acc[r,t] += 1
                end
            end
        end
    end
end
function acc = with_tables(edges)
    [h, w] = size(edges)
    rmax = ceil(sqrt(h*h + w*w))
    acc = int(zeros(2*rmax+1, 180))
    c = cos(float64(0..179)*pi/180)
    s = sin(float64(0..179)*pi/180)
    y = 0
    while y < h
        x = 0
        while x < w
            if edges[y,x] == 1
                t = 0
                while t < 180
                    r = int(round(x*c[t] + y*s[t])) + rmax
                    acc[r,t] = acc[r,t] + 1
                    t += 1
                end
            end
            x += 1
        end
        y += 1
    end
end
function [] = vote(acc, x, y, rmax)
    for t = 0..179
        acc[round(x*cos(t*pi/180) + y*sin(t*pi/180)) + rmax, t] += 1
    end
end
function acc = with_function(edges)
    [h, w] = size(edges)
    rmax = ceil(sqrt(h*h + w*w))
    acc = zeros(2*rmax+1, 180)
    for [y,x] = 0..size(edges)-1
        if edges[y,x]
            vote(acc, x, y, rmax)
        end
    end
end
