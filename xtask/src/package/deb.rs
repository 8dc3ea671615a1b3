//! The package for Debian and its descendants, by cargo-deb: `icd/Cargo.toml` says what it holds.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::package::products::{commit_time, package_version};
use crate::package::tools::CARGO_DEB;
use crate::package::tree::write_file;
use crate::{process, workspace};

/// Where the files are put that only this package has, from the workspace's root.
const EXTRA_FOLDER: &str = "target/package/debian";

/// Which package of the same version this is.
const REVISION: &str = "1";
/// As `icd/Cargo.toml` has it.
const MAINTAINER: &str = "The Lockstep developers <lockstep@lockstep.invalid>";
/// What lintian is told not to complain of, and why.
const LINTIAN_OVERRIDES: &str = "\
# The compiler has to start in containers and after a change of the root folder, where no library is.
lockstep-opencl-icd: statically-linked-binary [usr/lib/lockstep/lockstep-compiler]
";

/// What leads loaders to the driver.
const ICD: &str = "/usr/lib/lockstep/liblockstep.so\n";

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Lockstep
Comment: What is linked into the programs besides, and under which licences, is in THIRD-PARTY.txt beside this file.

Files: *
Copyright: 2026 the Lockstep developers
License: MIT or Apache-2.0
 The text of the first is in LICENSE-MIT beside this file, that of the second in
 /usr/share/common-licenses/Apache-2.0.
";

/// Packs the tree; gives the package's path.
pub fn pack_deb(results: &Path) -> Result<PathBuf> {
    let extra = workspace::root().join(EXTRA_FOLDER);
    write_file(&extra.join("lockstep.icd"), ICD)?;
    write_file(&extra.join("lintian-overrides"), LINTIAN_OVERRIDES)?;
    write_file(&extra.join("copyright"), COPYRIGHT)?;
    write_file(&extra.join("changelog"), &describe_change()?)?;
    let package = results.join(format!("lockstep-opencl-icd_{}-{REVISION}_amd64.deb", package_version()));
    let mut command = CARGO_DEB.prepare_command()?;
    command.args(["--package", "lockstep-icd", "--no-build", "--no-strip", "--deb-revision", REVISION, "--quiet"]);
    command.arg("--output").arg(&package).env("SOURCE_DATE_EPOCH", commit_time()?.to_string());
    process::run(&mut command)?;
    Ok(package)
}

/// The one entry of Debian's changelog.
fn describe_change() -> Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "--rfc-email", "--date"]).arg(format!("@{}", commit_time()?));
    let date = process::output_of(&mut date).context("date does not tell the time of the commit")?;
    Ok(format!(
        "lockstep-opencl-icd ({}-{REVISION}) unstable; urgency=medium\n\n  * CHANGELOG.md beside this file lists what is new.\n\n \
         -- {MAINTAINER}  {date}",
        package_version()
    ))
}
