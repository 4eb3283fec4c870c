type point : mutable class
    x : int
    y : int
end
function p = point(px : int, py : int)
    p = point(x:=px, y:=py)
end
function [] = move(self : point, d)
    self.x += d
    self.y += d
end
function r = sum_of(self : point)
    r = self.x + self.y
end
p = point(3, 4)
p.move(10)
print p.x, " ", p.y, " ", p.sum_of(), " ", sum_of(p)
