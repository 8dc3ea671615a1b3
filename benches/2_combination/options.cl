// The cumulative normal distribution, by the polynomial of Abramowitz & Stegun 26.2.17.
float cumulative(float x) {
    float k = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float sum = 1.330274429f;
    sum = sum * k - 1.821255978f;
    sum = sum * k + 1.781477937f;
    sum = sum * k - 0.356563782f;
    sum = sum * k + 0.31938153f;
    float tail = 0.39894228f * exp(-0.5f * x * x) * sum * k;
    return x < 0.0f ? tail : 1.0f - tail;
}

// Prices a European call and put; one random number gives the option's terms.
kernel void black_scholes(global const float *random, global float *call, global float *put) {
    size_t i = get_global_id(0);
    float r = random[i];
    float price = 10.0f * r + 100.0f * (1.0f - r);
    float strike = 10.0f * r + 100.0f * (1.0f - r) * (0.5f + r);
    float years = 1.0f * r + 10.0f * (1.0f - r);
    float rate = 0.01f * r + 0.05f * (1.0f - r);
    float volatility = 0.01f * r + 0.10f * (1.0f - r);

    float spread = volatility * sqrt(years);
    float d1 = (log(price / strike) + (rate + 0.5f * volatility * volatility) * years) / spread;
    float d2 = d1 - spread;
    float discounted = strike * exp(-rate * years);
    call[i] = price * cumulative(d1) - discounted * cumulative(d2);
    put[i] = discounted * cumulative(-d2) - price * cumulative(-d1);
}
