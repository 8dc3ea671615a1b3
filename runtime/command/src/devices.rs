//! `lockstep devices`: what applications find.

use std::fmt::Write;
use std::process::ExitCode;

use crate::probe::{DeviceFacts, PlatformFacts, probe_in_child};

/// Prints the platforms and their devices, in the loader's order.
pub fn list_devices(as_json: bool) -> ExitCode {
    let platforms = match probe_in_child().and_then(|probe| probe.loader.map(|_| probe.platforms)) {
        Ok(platforms) => platforms,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    match as_json {
        true => println!("{}", serde_json::json!({ "platforms": platforms })),
        false => print!("{}", describe_platforms(&platforms)),
    }
    match platforms.is_empty() {
        true => {
            eprintln!("the ICD loader lists no platform; `lockstep doctor` says why");
            ExitCode::FAILURE
        }
        false => ExitCode::SUCCESS,
    }
}

fn describe_platforms(platforms: &[PlatformFacts]) -> String {
    let mut text = String::new();
    for PlatformFacts { name, vendor, version, devices } in platforms {
        writeln!(text, "{name} ({vendor}), {version}").expect("texts can be written to");
        devices.iter().for_each(|device| text.push_str(&describe_device(device)));
    }
    text
}

fn describe_device(device: &DeviceFacts) -> String {
    let DeviceFacts { name, version, driver_version, compute_units, memory, local_memory, group_size, extensions } =
        device;
    format!(
        "  {name}\n    {version}, driver {driver_version}\n    {compute_units} compute units, {:.1} GiB of memory, {} KiB of local \
         memory, groups of up to {group_size} work-items\n    {} extensions\n",
        *memory as f64 / f64::from(1 << 30),
        local_memory >> 10,
        extensions.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_stand_below_their_platform() {
        let device = DeviceFacts {
            name: "Fast Processor".to_owned(),
            version: "OpenCL 3.0".to_owned(),
            driver_version: "1.2".to_owned(),
            compute_units: 8,
            memory: 3 << 29,
            local_memory: 64 << 10,
            group_size: 4096,
            extensions: vec!["cl_khr_fp64".to_owned()],
        };
        let [name, vendor, version] = ["Lockstep", "we", "OpenCL 3.0"].map(str::to_owned);
        let text = describe_platforms(&[PlatformFacts { name, vendor, version, devices: vec![device] }]);
        let wanted = "Lockstep (we), OpenCL 3.0\n  Fast Processor\n    OpenCL 3.0, driver 1.2\n    8 compute units, 1.5 GiB of memory, \
                      64 KiB of local memory, groups of up to 4096 work-items\n    1 extensions\n";
        assert_eq!(text, wanted);
    }
}
