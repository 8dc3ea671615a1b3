//! What an application finds on this machine: its ICD loader, and the platforms behind it.
//!
//! Drivers of others run code of theirs when they are loaded. A child process loads them, so that one that crashes or hangs is
//! something to tell of, and not the end of the command.

mod libraries;
mod platforms;

use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wait_timeout::ChildExt;

use crate::installation::driver_path;

/// The hidden subcommand that the child runs.
pub const SUBCOMMAND: &str = "probe";

/// Loading several drivers takes a second where their files are not in memory.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// What was found.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The loader that programs get who ask for `libOpenCL.so.1`, or why they get none.
    pub loader: Result<Loader, String>,
    /// Why our driver cannot be loaded, if it cannot.
    pub driver_error: Option<String>,
    /// What the loader lists, in its order.
    pub platforms: Vec<PlatformFacts>,
}

/// An ICD loader.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loader {
    /// The path of its library.
    pub path: String,
    /// Name and version, as far as it tells them.
    pub version: String,
}

/// What a platform says of itself, and its devices.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlatformFacts {
    pub name: String,
    pub vendor: String,
    pub version: String,
    pub devices: Vec<DeviceFacts>,
}

/// What a device says of itself.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    pub name: String,
    pub version: String,
    pub driver_version: String,
    pub compute_units: u32,
    /// Bytes of global memory.
    pub memory: u64,
    /// Bytes of local memory that a work-group may have.
    pub local_memory: u64,
    /// Work-items that a work-group may have.
    pub group_size: usize,
    pub extensions: Vec<String>,
}

/// Looks, in a child process.
///
/// # Errors
///
/// What became of the child: it crashed, it hung, or it does not start.
pub fn probe_in_child() -> Result<Probe, String> {
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(executable);
    command.arg(SUBCOMMAND).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    // A pipe may fill up: it is read while the child runs.
    let output = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || std::io::read_to_string(output).unwrap_or_default());
    let ended = child.wait_timeout(TIME_LIMIT).map_err(|error| error.to_string())?;
    let Some(status) = ended else {
        // What hangs in the kernel ends later, and nobody waits for it.
        let _ = child.kill();
        return Err(format!("loading the drivers takes longer than {} s: {ONE_AT_A_TIME}", TIME_LIMIT.as_secs()));
    };
    if !status.success() {
        return Err(format!("a process that loaded the drivers ended with {status}: {ONE_AT_A_TIME}"));
    }
    let text = reader.join().unwrap_or_default();
    serde_json::from_str(&text)
        .map_err(|error| format!("a process that loaded the drivers said nothing useful: {error}"))
}

/// How to find the one that is to blame.
const ONE_AT_A_TIME: &str = "with OCL_ICD_VENDORS set to one file of /etc/OpenCL/vendors after the other, `clinfo -l` shows which driver does it";

/// What the child does: looks, and prints what it found.
pub fn print_probe() -> ExitCode {
    let loader = libraries::find_loader();
    let platforms = if loader.is_ok() { platforms::list_platforms() } else { Vec::new() };
    let probe = Probe { loader, driver_error: libraries::try_loading(&driver_path()).err(), platforms };
    match serde_json::to_string(&probe) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}
