"""pyopencl's first example: adds two vectors and compares with numpy."""

import time

start = time.time()
import numpy
import pyopencl

SOURCE = """
__kernel void add(__global const float *a, __global const float *b, __global float *sum) {
    int i = get_global_id(0);
    sum[i] = a[i] + b[i];
}
"""

platform = next(platform for platform in pyopencl.get_platforms() if platform.name == "Lockstep")
context = pyopencl.Context(platform.get_devices())
queue = pyopencl.CommandQueue(context)
a, b = numpy.random.default_rng(1).random((2, 50000), dtype=numpy.float32)
flags = pyopencl.mem_flags
inputs = [pyopencl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=array) for array in (a, b)]
output = pyopencl.Buffer(context, flags.WRITE_ONLY, a.nbytes)
pyopencl.Program(context, SOURCE).build().add(queue, a.shape, None, *inputs, output)
result = numpy.empty_like(a)
pyopencl.enqueue_copy(queue, result, output)
assert numpy.array_equal(result, a + b)
print(f"{platform.name}, {context.devices[0].name}: right, {time.time() - start:.2f} s")
