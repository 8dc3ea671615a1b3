//! The names of OpenCL C's built-in functions: overloads have their parameters' types in their names.
//!
//! Source: the Itanium C++ ABI, 5.1 (mangling), and what clang adds to it for address spaces, vectors and OpenCL's types.

/// The type of a parameter, as far as names tell types apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    /// A number, by its letters in a name: `i`, `Dh`.
    Scalar(&'static str),
    /// So many numbers.
    Vector(u32, &'static str),
    /// The address of something in memory.
    Pointer {
        /// The number of the address space.
        space: u32,
        /// Whether what is there is `const`.
        is_const: bool,
        /// What is there.
        pointee: Box<Parameter>,
    },
    /// A type with a name, such as `ocl_sampler`.
    Named(String),
}

impl Parameter {
    /// A pointer to memory that is read and written.
    pub fn pointer_to(space: u32, pointee: Parameter) -> Parameter {
        Parameter::Pointer { space, is_const: false, pointee: Box::new(pointee) }
    }

    /// A pointer to memory that is only read.
    pub fn pointer_to_const(space: u32, pointee: Parameter) -> Parameter {
        Parameter::Pointer { space, is_const: true, pointee: Box::new(pointee) }
    }

    /// The name of the whole type where nothing was named before.
    fn spell_alone(&self) -> String {
        match self {
            Parameter::Scalar(letters) => (*letters).to_owned(),
            Parameter::Vector(count, letters) => format!("Dv{count}_{letters}"),
            Parameter::Pointer { space, is_const, pointee } => {
                format!("P{}{}", spell_qualifiers(*space, *is_const), pointee.spell_alone())
            }
            Parameter::Named(name) => format!("{}{name}", name.len()),
        }
    }
}

fn spell_qualifiers(space: u32, is_const: bool) -> String {
    let space = if space == 0 { String::new() } else { format!("U3AS{space}") };
    let qualifier = if is_const { "K" } else { "" };
    space + qualifier
}

/// The mangled name of a function with these parameters.
pub(super) fn mangle_name(name: &str, parameters: &[Parameter]) -> String {
    let mut mangled = format!("_Z{}{name}", name.len());
    if parameters.is_empty() {
        mangled.push('v');
    }
    let mut named = Vec::new();
    for parameter in parameters {
        add_parameter(parameter, &mut mangled, &mut named);
    }
    mangled
}

/// Adds a type. `named` are the types that a later one can refer to, each as it is spelt alone.
fn add_parameter(parameter: &Parameter, mangled: &mut String, named: &mut Vec<String>) {
    let alone = parameter.spell_alone();
    if matches!(parameter, Parameter::Scalar(_)) {
        mangled.push_str(&alone);
        return;
    }
    if add_reference(&alone, mangled, named) {
        return;
    }
    match parameter {
        Parameter::Pointer { space, is_const, pointee } => {
            mangled.push('P');
            let qualifiers = spell_qualifiers(*space, *is_const);
            let qualified = format!("{qualifiers}{}", pointee.spell_alone());
            if qualifiers.is_empty() {
                add_parameter(pointee, mangled, named);
            } else if !add_reference(&qualified, mangled, named) {
                mangled.push_str(&qualifiers);
                add_parameter(pointee, mangled, named);
                named.push(qualified);
            }
        }
        _ => mangled.push_str(&alone),
    }
    named.push(alone);
}

/// Adds a reference to a type that was named before; whether there is one.
fn add_reference(alone: &str, mangled: &mut String, named: &[String]) -> bool {
    let Some(index) = named.iter().position(|earlier| earlier == alone) else { return false };
    // No function of OpenCL C names so many types that a second digit would be needed.
    match index.checked_sub(1) {
        None => mangled.push_str("S_"),
        Some(number) => mangled.push_str(&format!("S{number}_")),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(count: u32) -> Parameter {
        Parameter::Vector(count, "f")
    }

    #[test]
    fn names_are_those_that_clang_gives() {
        use Parameter::Scalar;
        let image = Parameter::Named("ocl_image2d_ro".into());
        let sampler = Parameter::Named("ocl_sampler".into());
        let local_half = || Parameter::pointer_to_const(3, Scalar("Dh"));
        for (name, parameters, expected) in [
            ("get_work_dim", vec![], "_Z12get_work_dimv"),
            ("sin", vec![Scalar("Dh")], "_Z3sinDh"),
            ("fma", vec![vector(4), vector(4), vector(4)], "_Z3fmaDv4_fS_S_"),
            ("read_imagef", vec![image, sampler, vector(2)], "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f"),
            ("fract", vec![vector(2), Parameter::pointer_to(0, vector(2))], "_Z5fractDv2_fPS_"),
            ("fract", vec![vector(2), Parameter::pointer_to(3, vector(2))], "_Z5fractDv2_fPU3AS3S_"),
            ("vload_half", vec![Scalar("m"), Parameter::pointer_to_const(0, Scalar("Dh"))], "_Z10vload_halfmPKDh"),
            ("f", vec![local_half(), local_half(), vector(2), vector(2)], "_Z1fPU3AS3KDhS0_Dv2_fS1_"),
            ("f", vec![local_half(), Parameter::pointer_to(0, local_half())], "_Z1fPU3AS3KDhPS0_"),
        ] {
            assert_eq!(mangle_name(name, &parameters), expected);
        }
    }
}
