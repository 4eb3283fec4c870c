local counter = {}
counter.__index = counter
function counter:bump(d) self.n = self.n + d end
local c = setmetatable({n = 0.0}, counter)
for i = 1, 5000000 do c:bump(2) end
print(c.n)
