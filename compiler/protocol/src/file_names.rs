//! What files about a kernel are called: its dumps and its report.

/// A kernel's name as a file's name: kernels may be called anything in SPIR-V.
pub fn file_name(kernel: &str) -> String {
    let plain_letter =
        |character: char| if character.is_ascii_alphanumeric() || character == '_' { character } else { '-' };
    kernel.chars().take(80).map(plain_letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain() {
        assert_eq!(file_name("a/b_1"), "a-b_1");
    }
}
