// 6.15.2 Hyperbolic functions and their inverses.
#include "math.h"

FROM_LIBM(sinh)
FROM_LIBM(cosh)
FROM_LIBM(tanh)
FROM_LIBM(asinh)
FROM_LIBM(acosh)
FROM_LIBM(atanh)
