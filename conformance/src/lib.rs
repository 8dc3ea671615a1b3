//! Tests that use the driver as an application does: through the ICD loader, in a process of their own.
//!
//! The tests are under `tests/`, one file per subject of the specification. This library is what they share: the way
//! to the driver ([`loader`], [`entry_points`]), owners for OpenCL objects ([`objects`], [`commands`]), and helpers for
//! queries, random numbers and child processes.
//!
//! `OCL_ICD_VENDORS` names the folder with the driver's `.icd` file (the default is `target/icd/` of this workspace)
//! and `LOCKSTEP_TEST_PLATFORM` the platform under test, `Lockstep` unless set. The tests of what every OpenCL driver
//! must do pass on any conforming driver, which is how the tests themselves are tested.

pub mod barriers;
pub mod child;
pub mod codes;
pub mod commands;
pub mod entry_points;
pub mod extension_functions;
pub mod images;
pub mod info;
pub mod kept_programs;
pub mod loader;
pub mod long_sources;
pub mod messages;
pub mod objects;
pub mod plain;
pub mod random;
pub mod shared_memory;
pub mod stand_in;
pub mod test_folder;

pub use codes::{code_name, expect, ok};
pub use commands::{read, run, write};
pub use loader::{cl, driver, is_lockstep, platform};
pub use objects::{Buffer, Context, Event, Kernel, Program, Queue, Setup};
pub use opencl_sys;
pub use plain::Plain;
pub use random::Random;
pub use shared_memory::Svm;
