//! Whether what a module asks for is there, by the tables that the device is asked about, too.

use lockstep_protocol::spirv_support::{CAPABILITIES, EXTENSIONS};
use spirv::Capability;

use super::error::{Attempt, refuse};

/// Judges an `OpCapability`.
pub(super) fn check_capability(number: u32) -> Attempt<()> {
    match Capability::from_u32(number) {
        Some(capability) if CAPABILITIES.contains(&capability) => Ok(()),
        Some(capability) => refuse!("the capability {capability:?} is not supported"),
        None => refuse!("there is no capability {number}"),
    }
}

/// Judges an `OpExtension`.
pub(super) fn check_extension(name: &str) -> Attempt<()> {
    if !EXTENSIONS.contains(&name) {
        refuse!("the extension {name} is not supported");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_in_the_tables_is_refused_by_name() {
        assert_eq!(check_capability(Capability::Kernel as u32), Ok(()));
        let refusal = check_capability(Capability::Shader as u32).expect_err("it is not for kernels");
        assert_eq!(refusal.sentence, "the capability Shader is not supported");
        assert_eq!(check_capability(77_777).expect_err("there is none").sentence, "there is no capability 77777");
        assert_eq!(check_extension("SPV_KHR_expect_assume"), Ok(()));
        let refusal = check_extension("SPV_KHR_ray_tracing").expect_err("it is not for kernels");
        assert_eq!(refusal.sentence, "the extension SPV_KHR_ray_tracing is not supported");
    }
}
