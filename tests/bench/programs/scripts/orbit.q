% A planet around the sun, with objects for both
type body : mutable class
    x : scalar
    y : scalar
    vx : scalar
    vy : scalar
    mass : scalar
end
function n = inputs(size)
    n = size
end
function [] = attract(self : body, other : body, dt : scalar)
    dx = other.x - self.x
    dy = other.y - self.y
    r = dx*dx + dy*dy
    w = dt*other.mass/(r*sqrt(r))
    self.vx += w*dx
    self.vy += w*dy
end
function [] = move(self : body, dt : scalar)
    self.x += dt*self.vx
    self.y += dt*self.vy
end
function [x, y] = orbit(n)
    sun = body(mass:=1)
    planet = body(x:=1, vy:=1, mass:=0.001)
    for k = 1..n
        planet.attract(sun, 0.001)
        sun.attract(planet, 0.001)
        planet.move(0.001)
        sun.move(0.001)
    end
    x = planet.x
    y = planet.y
end
