//! BlackScholes of Karrenberg & Hack 2012, Table 1.

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernel.
pub const SOURCE: &str = include_str!("options.cl");

/// Prices 64 Ki options.
pub fn black_scholes() -> Problem {
    options(1 << 16)
}

/// Prices 4 Mi options: 48 MiB of numbers and prices.
pub fn black_scholes_large() -> Problem {
    options(1 << 22)
}

fn options(count: usize) -> Problem {
    let random = floats(1, count, 0.0, 1.0);
    let (call, put): (Vec<f32>, Vec<f32>) = random.iter().map(|&r| priced(f64::from(r))).unzip();
    Problem {
        buffers: vec![Data::of(&random), Data::room::<f32>(random.len()), Data::room::<f32>(random.len())],
        steps: vec![step("black_scholes", &[random.len()], &[], args![b 0, b 1, b 2])],
        check: Box::new(move |outcome| {
            // Differences of numbers near 100 in single precision.
            outcome.close(1, &call, 5e-4)?;
            outcome.close(2, &put, 5e-4)
        }),
    }
}

fn priced(r: f64) -> (f32, f32) {
    let between = |low: f64, high: f64| low * r + high * (1.0 - r);
    let (price, years, rate, volatility) =
        (between(10.0, 100.0), between(1.0, 10.0), between(0.01, 0.05), between(0.01, 0.10));
    let strike = 10.0 * r + 100.0 * (1.0 - r) * (0.5 + r);
    let spread = volatility * years.sqrt();
    let d1 = ((price / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / spread;
    let d2 = d1 - spread;
    let discounted = strike * (-rate * years).exp();
    let call = price * cumulative(d1) - discounted * cumulative(d2);
    let put = discounted * cumulative(-d2) - price * cumulative(-d1);
    (call as f32, put as f32)
}

fn cumulative(x: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let coefficients = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_53];
    let sum = coefficients.iter().fold(0.0, |sum, c| sum * k + c);
    let tail = 0.398_942_28 * (-0.5 * x * x).exp() * sum * k;
    if x < 0.0 { tail } else { 1.0 - tail }
}
