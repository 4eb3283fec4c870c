import "pyquasar.${BITNESS}.${NATIVEEXT}"
import "Quasar.CompMath.dll"
import"Quasar.Runtime.dll"
print "fine"
