// What the modules beside this file were made of: integers, conversions, control flow, floats.
#pragma OPENCL FP_CONTRACT OFF
kernel void integers(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    int x = in[i];
    uint y = in[i + 256];
    int r = x / (int)(y | 1) + x % 7 + (x >> 3) + (int)(y >> (x & 31)) + (x << (y & 7));
    r ^= (x < 3) | (y > 10u) << 1 | (x != (int)y) << 2;
    r += popcount(x) + clz(x) + rotate(x, 5) + abs(x) + abs_diff(x, (int)y) + add_sat(x, x) + mul_hi(x, x) + hadd(x, 7);
    r += mad24(x & 255, 3, 4) + max(x, 3) + min(y, 9u) + clamp(x, -5, 5) + upsample((short)x, (ushort)y);
    ulong l = ((ulong)y << 32) | x;
    char4 c = ((char4)(x, y, x >> 8, 3)).wzyx + (char4)1;
    out[i] = r + (int)(l % 1000) + (int)(l >> 17) + c.x * c.y + c.z - c.w + select(x, (int)y, x < 0);
}

int product_up_to(int n)
{
    int result = 1;
    for (int i = 2; i <= n; i++)
        result *= i;
    return result;
}

kernel void jumps(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    int x = in[i], r = 0;
    switch (x & 7) {
    case 0: r += 3; break;
    case 1:
    case 5: r -= 7; break;
    case 6: r ^= 55;
    default: r += product_up_to(in[i + 256] & 7);
    }
    for (int k = 0; k < 20; k++) {
        if (k == (x & 15))
            continue;
        r += k * x;
        if (r > 100000)
            break;
    }
    out[i] = r;
}

kernel void floats(global float *out, global const int *in)
{
    size_t i = get_global_id(0);
    float z = (in[i] & 0xffff) * 0.001f - 30.f, whole;
    int exponent;
    float r = sin(z) + cos(z) * exp(z * .1f) + pow(fabs(z), .5f) + fma(z, 2.f, 3.f) + sqrt(fabs(z)) + fmod(z, .7f);
    r += fract(z, &whole) + whole + frexp(z, &exponent) + exponent + ldexp(z, 2) + atan2(z, 2.f) + mix(z, 2.f, .3f);
    r += smoothstep(0.f, 1.f, z) + step(z, .5f) + sign(z) + fmax(z, 1.f) + clamp(z, -1.f, 1.f) + copysign(1.f, z);
    float4 v = (float4)(z, z + 1, 2, 3);
    r += dot(v, v.wzyx) + length(v.xyz) + cross(v, v.yzxw).x + any(isless(v, (float4)2.f)) + (float)((double)z * 3);
    out[i] = r + convert_int_rtn(z) + convert_uchar_sat(z) + convert_int_sat(z * 1e9f) % 100 + (int)z;
}
