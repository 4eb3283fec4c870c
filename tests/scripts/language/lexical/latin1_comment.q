% café ÿþ by José
x = 1 % naïve
print x
