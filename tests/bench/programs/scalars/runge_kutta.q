% An oscillator with damping, integrated by the classical method
function n = inputs(size)
    n = size
end
function a = acceleration(x, v)
    a = (1 - x*x)*v - x
end
function [x, v] = runge_kutta(n)
    x = 0.5
    v = 0.0
    h = 0.001
    for k = 1..n
        k1 = v
        l1 = acceleration(x, v)
        k2 = v + 0.5*h*l1
        l2 = acceleration(x + 0.5*h*k1, v + 0.5*h*l1)
        k3 = v + 0.5*h*l2
        l3 = acceleration(x + 0.5*h*k2, v + 0.5*h*l2)
        k4 = v + h*l3
        l4 = acceleration(x + h*k3, v + h*l3)
        x += h*(k1 + 2*k2 + 2*k3 + k4)/6
        v += h*(l1 + 2*l2 + 2*l3 + l4)/6
    end
end
