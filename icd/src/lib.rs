//! `liblockstep.so`: the OpenCL host API in C terms.
