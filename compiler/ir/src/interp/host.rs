//! The host's C library as kernels call it, by name, in safe Rust.

use lockstep_protocol::types::Type;

/// Bits of the function's result; `None` if there is no such function of these types.
pub(super) fn call_host_function(name: &str, result: Type, arguments: &[(Type, u128)]) -> Option<u128> {
    let floats: Option<Vec<f32>> = arguments
        .iter()
        .map(|&(argument_type, bits)| (argument_type == Type::F32).then(|| f32::from_bits(bits as u32)))
        .collect();
    let doubles: Option<Vec<f64>> = arguments
        .iter()
        .map(|&(argument_type, bits)| (argument_type == Type::F64).then(|| f64::from_bits(bits as u64)))
        .collect();
    let float32 = |bits: u128| f32::from_bits(bits as u32);
    let float64 = |bits: u128| f64::from_bits(bits as u64);
    match (result, arguments) {
        (Type::F32, _) if floats.is_some() => {
            let number = floats?;
            single(name.strip_suffix('f')?, &number).map(|number| number.to_bits().into())
        }
        (Type::F64, _) if doubles.is_some() => double(name, &doubles?).map(|number| number.to_bits().into()),
        (Type::F32, &[(Type::F32, number), (Type::I32, exponent)]) => match name {
            "ldexpf" | "scalbnf" => Some(libm::ldexpf(float32(number), exponent as i32).to_bits().into()),
            _ => None,
        },
        (Type::F64, &[(Type::F64, number), (Type::I32, exponent)]) => match name {
            "ldexp" | "scalbn" => Some(libm::ldexp(float64(number), exponent as i32).to_bits().into()),
            _ => None,
        },
        (Type::I32, &[(Type::F32, number)]) if name == "ilogbf" => {
            Some(u128::from(libm::ilogbf(float32(number)) as u32))
        }
        (Type::I32, &[(Type::F64, number)]) if name == "ilogb" => Some(u128::from(libm::ilogb(float64(number)) as u32)),
        _ => None,
    }
}

/// The functions of floats to a float, for one type: methods of the standard library, which are the
/// host's own, and the `libm` crate's where the standard library has none.
macro_rules! functions {
    ($function:ident, $float:ty, $($name:literal => $libm1:path),* ; $($name2:literal => $libm2:path),*) => {
        fn $function(name: &str, args: &[$float]) -> Option<$float> {
            Some(match (name, args) {
                ("sin", &[x]) => x.sin(),
                ("cos", &[x]) => x.cos(),
                ("tan", &[x]) => x.tan(),
                ("asin", &[x]) => x.asin(),
                ("acos", &[x]) => x.acos(),
                ("atan", &[x]) => x.atan(),
                ("sinh", &[x]) => x.sinh(),
                ("cosh", &[x]) => x.cosh(),
                ("tanh", &[x]) => x.tanh(),
                ("exp", &[x]) => x.exp(),
                ("exp2", &[x]) => x.exp2(),
                ("expm1", &[x]) => x.exp_m1(),
                ("log", &[x]) => x.ln(),
                ("log2", &[x]) => x.log2(),
                ("log10", &[x]) => x.log10(),
                ("log1p", &[x]) => x.ln_1p(),
                ("sqrt", &[x]) => x.sqrt(),
                ("cbrt", &[x]) => x.cbrt(),
                ("floor", &[x]) => x.floor(),
                ("ceil", &[x]) => x.ceil(),
                ("trunc", &[x]) => x.trunc(),
                ("round", &[x]) => x.round(),
                ("rint" | "nearbyint" | "roundeven", &[x]) => x.round_ties_even(),
                ("fabs", &[x]) => x.abs(),
                ("atan2", &[y, x]) => y.atan2(x),
                ("pow", &[x, y]) => x.powf(y),
                ("hypot", &[x, y]) => x.hypot(y),
                ("fmod", &[x, y]) => x % y,
                ("fmin", &[x, y]) => x.min(y),
                ("fmax", &[x, y]) => x.max(y),
                ("copysign", &[x, y]) => x.copysign(y),
                ("fma", &[x, y, z]) => x.mul_add(y, z),
                $(($name, &[x]) => $libm1(x),)*
                $(($name2, &[x, y]) => $libm2(x, y),)*
                _ => return None,
            })
        }
    };
}

functions!(single, f32,
    "asinh" => libm::asinhf, "acosh" => libm::acoshf, "atanh" => libm::atanhf, "exp10" => libm::exp10f,
    "erf" => libm::erff, "erfc" => libm::erfcf, "lgamma" => libm::lgammaf, "tgamma" => libm::tgammaf,
    "logb" => logbf;
    "fdim" => libm::fdimf, "nextafter" => libm::nextafterf, "remainder" => libm::remainderf);

functions!(double, f64,
    "asinh" => libm::asinh, "acosh" => libm::acosh, "atanh" => libm::atanh, "exp10" => libm::exp10,
    "erf" => libm::erf, "erfc" => libm::erfc, "lgamma" => libm::lgamma, "tgamma" => libm::tgamma,
    "logb" => logb;
    "fdim" => libm::fdim, "nextafter" => libm::nextafter, "remainder" => libm::remainder);

fn logbf(number: f32) -> f32 {
    logb(f64::from(number)) as f32
}

fn logb(number: f64) -> f64 {
    match number {
        0.0 => f64::NEG_INFINITY,
        number if number.is_finite() => f64::from(libm::ilogb(number)),
        number => number * number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f64_of(name: &str, arguments: &[f64]) -> Option<f64> {
        let arguments: Vec<(Type, u128)> =
            arguments.iter().map(|number| (Type::F64, number.to_bits().into())).collect();
        call_host_function(name, Type::F64, &arguments).map(|bits| f64::from_bits(bits as u64))
    }

    #[test]
    fn functions_are_found_by_name_and_type() {
        assert_eq!(f64_of("sin", &[0.5]), Some(0.5f64.sin()));
        assert_eq!(f64_of("pow", &[2.0, 10.0]), Some(1024.0));
        assert_eq!(f64_of("logb", &[10.0]), Some(3.0));
        assert_eq!(f64_of("logb", &[0.0]), Some(f64::NEG_INFINITY));
        assert_eq!(f64_of("pow", &[2.0]), None);
        assert_eq!(f64_of("sinf", &[2.0]), None);
        let two = (Type::F32, u128::from(2f32.to_bits()));
        assert_eq!(call_host_function("sqrtf", Type::F32, &[two]), Some(2f32.sqrt().to_bits().into()));
        assert_eq!(call_host_function("sqrt", Type::F32, &[two]), None);
        assert_eq!(call_host_function("ldexpf", Type::F32, &[two, (Type::I32, 3)]), Some(16f32.to_bits().into()));
        assert_eq!(call_host_function("ilogbf", Type::I32, &[two]), Some(1));
    }
}
