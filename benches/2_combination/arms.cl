// Costly code under conditions that hardly any work-item meets, reached and left in every way that the language has.

static double costly(double x) { return exp(pow(x + 1.5, 0.7)) + log(x + 3.0) * pow(x + 1.1, 0.3); }

// Moll 2021, Figure 9.4: a costly arm that goes on with the next iteration.
kernel void arm_continue(global const double *x, global double *out, double least, int rounds) {
    size_t i = get_global_id(0);
    double w = x[i], sum = 0.0;
    for (int k = 0; k < rounds; ++k) {
        w += 0.001;
        if (w < least) {
            sum += costly(w);
            if (sum > 12.0) continue;
            sum *= 0.5;
        }
        sum += w;
    }
    out[i] = sum;
}

kernel void arm_break(global const double *x, global double *out, double least, int rounds) {
    size_t i = get_global_id(0);
    double w = x[i], sum = 0.0;
    for (int k = 0; k < rounds; ++k) {
        w += 0.001;
        if (w < least) {
            sum += costly(w);
            if (sum > 12.0) break;
            sum *= 0.5;
        }
        sum += w;
    }
    out[i] = sum;
}

kernel void arm_return(global const double *x, global double *out, double least, int rounds) {
    size_t i = get_global_id(0);
    double w = x[i], sum = w;
    if (w < least) {
        sum += costly(w);
        if (w < 0.5 * least) return;
        sum *= 0.5;
    }
    out[i] = sum + rounds;
}

kernel void arm_or(global const double *x, global double *out, double least, int rounds) {
    size_t i = get_global_id(0);
    double w = x[i], sum = w;
    if (w < least || x[i ^ 1] > 1.0 - least) sum += costly(w);
    out[i] = sum + rounds;
}

// A case that falls into a costly one.
kernel void arm_switch(global const double *x, global double *out, double least, int rounds) {
    size_t i = get_global_id(0);
    double w = x[i], sum = 0.0;
    switch ((int)(w / least)) {
    case 0: sum = w + w; // and on
    case 1: sum += costly(w); break;
    case 2: sum = 3.0; break;
    default: sum = w;
    }
    out[i] = sum + rounds;
}

// Karrenberg & Hack 2012, Figure 7, left: a jump into the other arm.
kernel void arm_goto(global const double *x, global double *out, double least, int rounds) {
    size_t i = get_global_id(0);
    double w = x[i], sum = 0.0;
    if (w < 0.25) {
        sum = 3.0 * w;
        if (w < least) goto inside;
        sum += 1.0;
    } else {
        sum = 2.0;
        if (w > 1.0 - least) {
        inside:
            sum += costly(w);
        }
    }
    out[i] = sum + rounds;
}

// A loop of as many rounds for all work-items, which half of them do not come to.
kernel void arm_loop(global const float *x, global const float *table, global float *out, int rounds) {
    size_t i = get_global_id(0);
    float sum = x[i];
    if (sum < 0.5f) {
        for (int k = 0; k < rounds; ++k) sum = fma(sum, 0.5f, x[i]);
    }
    out[i] = sum;
}

// The same with a second way out, which all of them take together if any does.
kernel void arm_search(global const float *x, global const float *table, global float *out, int rounds) {
    size_t i = get_global_id(0);
    float sum = x[i];
    if (sum < 0.5f) {
        for (int k = 0; k < rounds; ++k) {
            if (table[k] > 1.0f) {
                sum += 1.0f;
                break;
            }
            sum = fma(sum, 0.5f, table[k] * x[i]);
        }
    }
    out[i] = sum;
}
