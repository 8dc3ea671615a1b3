//! The wheel `lockstep-opencl`.
//!
//! pyopencl's own wheel has an ICD loader that reads `pyopencl/.libs/*.icd` beside `/etc/OpenCL/vendors`, and finds libraries there
//! by their bare names. So the driver goes there, and needs no variable and no rights. Other programs are led to it by what
//! `lockstep-icd-path` prints.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::package::products::{commit_time, package_version};
use crate::package::tools::PythonTools;
use crate::package::tree::{copy_file, documents_folder, set_modes, write_file};
use crate::process;

/// The module with the two commands.
const MODULE: &str = include_str!("lockstep_opencl.py");

/// The systems that it is for: x86-64 with glibc 2.17 or later; for any Python.
const TAG: &str = "py3-none-manylinux_2_17_x86_64";

const ENTRY_POINTS: &str = "\
[console_scripts]
lockstep = lockstep_opencl:run_command
lockstep-icd-path = lockstep_opencl:print_icd_path
";

const DESCRIPTION: &str = "\
An OpenCL 3.1 driver for CPUs that runs work-items in the lanes of SIMD registers.

`pip install pyopencl lockstep-opencl` is all that pyopencl needs: the platform `Lockstep` is there. For other programs
`lockstep-icd-path` prints the variable that leads an ICD loader to the driver. `lockstep doctor` tells whether all is well.
";

/// Packs the files of a tree; gives the wheel's path.
pub fn pack_wheel(tree: &Path, results: &Path, tools: &PythonTools) -> Result<PathBuf> {
    let contents = tree.with_file_name("wheel");
    if contents.exists() {
        fs::remove_dir_all(&contents).with_context(|| format!("cannot remove {}", contents.display()))?;
    }
    arrange_files(tree, &contents)?;
    set_modes(&contents)?;
    let mut pack = tools.module_command("wheel");
    pack.arg("pack").arg(&contents).arg("--dest-dir").arg(results);
    process::run(pack.env("SOURCE_DATE_EPOCH", commit_time()?.to_string()))?;
    Ok(results.join(format!("lockstep_opencl-{}-{TAG}.whl", package_version())))
}

fn arrange_files(tree: &Path, contents: &Path) -> Result<()> {
    let libraries = contents.join("pyopencl/.libs");
    for file in ["bin/lockstep", "lib/lockstep/liblockstep.so", "lib/lockstep/lockstep-compiler"] {
        let name = Path::new(file).file_name().context("a file without a name")?;
        copy_file(&tree.join(file), &libraries.join(name))?;
    }
    write_file(&libraries.join("lockstep.icd"), "liblockstep.so\n")?;
    write_file(&contents.join("lockstep_opencl/__init__.py"), MODULE)?;
    let information = contents.join(format!("lockstep_opencl-{}.dist-info", package_version()));
    write_file(&information.join("METADATA"), &describe_package())?;
    write_file(
        &information.join("WHEEL"),
        &format!("Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\nTag: {TAG}\n"),
    )?;
    write_file(&information.join("entry_points.txt"), ENTRY_POINTS)?;
    let documents = documents_folder(tree);
    for entry in fs::read_dir(&documents).with_context(|| format!("cannot read {}", documents.display()))? {
        let entry = entry?;
        copy_file(&entry.path(), &information.join("licenses").join(entry.file_name()))?;
    }
    Ok(())
}

fn describe_package() -> String {
    format!(
        "Metadata-Version: 2.1\nName: lockstep-opencl\nVersion: {}\nSummary: A vectorizing OpenCL driver for CPUs\n\
         License: MIT OR Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{DESCRIPTION}",
        package_version()
    )
}
