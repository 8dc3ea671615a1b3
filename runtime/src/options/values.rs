//! Reading the values of switches. An error says what a value is not, to stand after `NAME=VALUE`.

use std::ops::RangeInclusive;

use lockstep_protocol::configuration::Versions;

/// A text as it is.
pub fn parse_text<T: for<'a> From<&'a str>>(value: &str, destination: &mut Option<T>) -> Result<(), String> {
    *destination = Some(value.into());
    Ok(())
}

/// A whole number within bounds.
pub fn parse_number(value: &str, bounds: RangeInclusive<u64>) -> Result<u64, String> {
    let number = value.trim().parse().ok().filter(|number| bounds.contains(number));
    number.ok_or_else(|| match *bounds.end() {
        u64::MAX => "is not a positive number".to_owned(),
        maximum => format!("is not a number from {} to {maximum}", bounds.start()),
    })
}

/// 0 or 1.
pub fn on_or_off(value: &str, destination: &mut bool) -> Result<(), String> {
    *destination = match value.trim() {
        "0" => false,
        "1" => true,
        _ => return Err("is not 0 or 1".to_owned()),
    };
    Ok(())
}

/// 0, 1 or `always`.
pub fn parse_versions(value: &str) -> Result<Versions, String> {
    match value.trim() {
        "0" => Ok(Versions::Never),
        "1" => Ok(Versions::WherePays),
        "always" => Ok(Versions::Always),
        _ => Err("is not 0, 1 or always".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(parse_number(" 7 ", 1..=9), Ok(7));
        assert_eq!(parse_number("10", 1..=9), Err("is not a number from 1 to 9".to_owned()));
        assert_eq!(parse_number("-1", 1..=u64::MAX), Err("is not a positive number".to_owned()));
    }

    #[test]
    fn words_are_read_without_the_blanks_around() {
        assert_eq!(parse_versions("always "), Ok(Versions::Always));
        assert_eq!(parse_versions(" 0"), Ok(Versions::Never));
        assert!(parse_versions("2").is_err());
        let mut destination = false;
        assert_eq!(on_or_off(" 1", &mut destination), Ok(()));
        assert!(destination);
        assert!(on_or_off("true", &mut destination).is_err());
        assert!(destination);
    }
}
