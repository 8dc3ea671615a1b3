// Images through samplers and without them.

constant sampler_t SMOOTH = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t WINDOW = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

// Another size of a picture, by bilinear interpolation.
kernel void resize(read_only image2d_t in, write_only image2d_t out) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 size = (float2)(get_image_width(out), get_image_height(out));
    write_imagef(out, at, read_imagef(in, SMOOTH, (convert_float2(at) + 0.5f) / size));
}

// A 5 x 5 window of weights; black outside of the picture.
kernel void convolve(read_only image2d_t in, write_only image2d_t out, constant float *weights) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0.0f;
    for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 5; ++x) sum += weights[y * 5 + x] * read_imagef(in, WINDOW, at + (int2)(x - 2, y - 2));
    write_imagef(out, at, sum);
}

// Red, green and blue to luma and two differences of colour, as JPEG has them; alpha stays.
kernel void convert_colours(read_only image2d_t in, write_only image2d_t out) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 c = read_imagef(in, at);
    float luma = 0.299f * c.x + 0.587f * c.y + 0.114f * c.z;
    write_imagef(out, at, (float4)(luma, 0.564f * (c.z - luma) + 0.5f, 0.713f * (c.x - luma) + 0.5f, c.w));
}
