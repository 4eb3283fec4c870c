% Draws lines into an image by Bresenham's method.
function n = inputs()
    n = 1500
end
function s = with_numbers(n)
    img = zeros(256, 256)
    for k = 0..n-1
        x = mod(k*7919, 256)
        y = mod(k*104729, 256)
        x1 = mod(k*6007, 256)
        y1 = mod(k*3571, 256)
        dx = abs(x1 - x)
        dy = -abs(y1 - y)
        sx = x < x1 ? 1 : -1
        sy = y < y1 ? 1 : -1
        e = dx + dy
        while true
            img[y,x] += 1
            if x == x1 && y == y1
                break
            end
            e2 = 2*e
            if e2 >= dy
                e += dy
                x += sx
            end
            if e2 <= dx
                e += dx
                y += sy
            end
        end
    end
    s = sum(img.^2)
end
function s = with_declared(n)
    img = int(zeros(256, 256))
    for k = 0..n-1
        x : int = mod(k*7919, 256)
        y : int = mod(k*104729, 256)
        x1 : int = mod(k*6007, 256)
        y1 : int = mod(k*3571, 256)
        dx : int = abs(x1 - x)
        dy : int = -abs(y1 - y)
        sx : int = x < x1 ? 1 : -1
        sy : int = y < y1 ? 1 : -1
        e : int = dx + dy
        done : bool = false
        while !done
            img[y,x] += 1
            done = x == x1 && y == y1
            e2 : int = 2*e
            if e2 >= dy
                e += dy
                x += sx
            end
            if e2 <= dx
                e += dx
                y += sy
            end
        end
    end
    s = sum(float(img).^2)
end
function [] = draw(img, x, y, x1, y1)
    dx = abs(x1 - x)
    dy = -abs(y1 - y)
    sx = x < x1 ? 1 : -1
    sy = y < y1 ? 1 : -1
    e = dx + dy
    repeat
        img[y,x] += 1
        done = x == x1 && y == y1
        e2 = 2*e
        if e2 >= dy
            e += dy
            x += sx
        end
        if e2 <= dx
            e += dx
            y += sy
        end
    until done
end
function s = with_function(n)
    img = zeros(256, 256)
    for k = 0..n-1
        draw(img, mod(k*7919, 256), mod(k*104729, 256), mod(k*6007, 256), mod(k*3571, 256))
    end
    s = sum(img.^2)
end
function s = with_ints(n)
    img = zeros(256, 256)
    for k = 0..n-1
        x = int(mod(k*7919, 256))
        y = int(mod(k*104729, 256))
        x1 = int(mod(k*6007, 256))
        y1 = int(mod(k*3571, 256))
        dx = abs(x1 - x)
        dy = -abs(y1 - y)
        e = dx + dy
        while true
            img[y,x] += 1
            if x == x1 && y == y1
                break
            end
            twice = shl(e, 1)
            if twice >= dy
                e += dy
                x += sign(x1 - x)
            end
            if twice <= dx
                e += dx
                if y < y1
                    y += 1
                else
                    y -= 1
                end
            end
        end
    end
    s = sum(img.^2)
end
