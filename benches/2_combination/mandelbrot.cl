// How long each point of the plane stays near: the loop of Karrenberg & Hack's Figure 11.
kernel void mandelbrot(global uint *image, float left, float top, float pixel, uint most) {
    uint column = get_global_id(0), row = get_global_id(1);
    float x0 = left + pixel * (float)column, y0 = top + pixel * (float)row;
    float x = x0, y = y0, x2 = x * x, y2 = y * y;
    uint iteration = 0;
    for (; x2 + y2 <= 4.0f && iteration < most; ++iteration) {
        y = 2.0f * x * y + y0;
        x = x2 - y2 + x0;
        x2 = x * x;
        y2 = y * y;
    }
    image[row * get_global_size(0) + column] = 255 * iteration / most;
}
