// 6.15.2 Exponentials and logarithms.
#include "math.h"

FROM_LIBM(exp)
FROM_LIBM(exp2)
FROM_LIBM(exp10)
FROM_LIBM(expm1)
FROM_LIBM(log)
FROM_LIBM(log2)
FROM_LIBM(log10)
FROM_LIBM(log1p)
