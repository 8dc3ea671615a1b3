// 6.15.16 Work-group functions of 8 and 16 bits. OpenCL C has none; SPIR-V has the instructions for all types.
#include "collective.h"

COLLECTIVES(, s, char)
COLLECTIVES(, u, uchar)
COLLECTIVES(, s, short)
COLLECTIVES(, u, ushort)

PRODUCTS(, char)
PRODUCTS(, uchar)
PRODUCTS(, short)
PRODUCTS(, ushort)
BITWISE(char)
BITWISE(uchar)
BITWISE(short)
BITWISE(ushort)

__attribute__((convergent)) int __lockstep_collective_reduce_or_int(int x);
#define TO_INT(x) (int)(x)
#define TO_CHAR(x) (char)(x)
#define TO_UCHAR(x) (uchar)(x)
#define TO_SHORT(x) (short)(x)
#define TO_USHORT(x) (ushort)(x)
BROADCAST(char, int, TO_INT, TO_CHAR)
BROADCAST(uchar, int, TO_INT, TO_UCHAR)
BROADCAST(short, int, TO_INT, TO_SHORT)
BROADCAST(ushort, int, TO_INT, TO_USHORT)
