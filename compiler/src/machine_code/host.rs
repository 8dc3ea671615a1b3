//! The machine that code is made for, as LLVM sees it: the one we run on, or any of a level.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::rc::Rc;
use std::sync::{Once, OnceLock};

use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::{
    LLVM_InitializeNativeAsmPrinter, LLVM_InitializeNativeTarget, LLVMDisposeTargetData, LLVMSetModuleDataLayout,
};
use llvm_sys::target_machine::{
    LLVMCodeGenOptLevel, LLVMCodeModel, LLVMCreateTargetDataLayout, LLVMCreateTargetMachine, LLVMDisposeTargetMachine,
    LLVMGetDefaultTargetTriple, LLVMGetHostCPUFeatures, LLVMGetHostCPUName, LLVMGetTargetFromTriple, LLVMRelocMode,
    LLVMTargetMachineRef,
};

use super::error::MachineCodeError;
use super::mask_extensions::keep_mask_extensions;
use super::opt_level::OptLevel;
use crate::frontend::llvm::take_message;
use lockstep_ir::target::TargetInfo;
use lockstep_protocol::feature_level::FeatureLevel;

/// What was found out about the processor once and for all.
struct Host {
    triple: CString,
    /// The model; it only decides what is fast.
    tuning: CString,
    /// What may be used, as `+feature,-feature`.
    features: CString,
}

/// The base that every feature is named on top of. A model's name would bring features that a hypervisor may hide.
const BASE_CPU: &CStr = c"x86-64";

/// The model that code of a level is scheduled for: none.
const LEVEL_TUNING: &CStr = c"generic";

fn this_host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(find_host)
}

/// Has all code of this process made for processors of a level, or for those of this one's kind, if it is the first to choose. Whether
/// that is so now.
pub fn choose_level(level: Option<FeatureLevel>) -> bool {
    *chosen_level(level) == level
}

/// What was chosen first.
fn chosen_level(level: Option<FeatureLevel>) -> &'static Option<FeatureLevel> {
    static LEVEL: OnceLock<Option<FeatureLevel>> = OnceLock::new();
    LEVEL.get_or_init(|| level)
}

/// Whether the processor computes a product and a sum in one.
pub fn fuses_multiply_add() -> bool {
    has_feature("fma")
}

fn find_host() -> Host {
    let host = find_this_host();
    match chosen_level(None) {
        None => host,
        Some(level) => {
            let features: Vec<String> = level.features().map(|feature| format!("+{feature}")).collect();
            let features = CString::new(features.join(",")).unwrap_or_default();
            Host { tuning: LEVEL_TUNING.to_owned(), features, ..host }
        }
    }
}

fn find_this_host() -> Host {
    // SAFETY: each of the calls below returns a string that is ours to free.
    let owned = |message| CString::new(unsafe { take_message(message) }).unwrap_or_default();
    // SAFETY: queries without arguments.
    unsafe {
        Host {
            triple: owned(LLVMGetDefaultTargetTriple()),
            tuning: owned(LLVMGetHostCPUName()),
            features: owned(LLVMGetHostCPUFeatures()),
        }
    }
}

/// LLVM's schedulers compare each access to memory with all others of a block that it may overlap, up to a thousand of
/// them, which takes the square of their number. Where a gang's scatters are stores of their own, blocks have a thousand and
/// more: with a fifth of the bound a kernel of 884 instructions takes a quarter of the time to emit (`docs/experiments/compile-time.md`).
/// Blocks with fewer accesses are scheduled as before.
const SCHEDULER_BOUNDS: [&CStr; 3] = [c"lockstep", c"-dag-maps-huge-region=200", c"-dag-maps-reduction-size=100"];

/// Gives LLVM options of its command line. What it does not know, or knows already, changes nothing.
///
/// # Safety
/// No other thread reads or writes LLVM's options meanwhile.
unsafe fn set_options(options: &[&'static CStr]) {
    let arguments: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
    // SAFETY: the arguments are texts that live on; the caller ensures the rest.
    unsafe { LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) };
}

/// Makes LLVM's code generator for the host known to LLVM.
pub(super) fn initialize_target() {
    static INITIALISE: Once = Once::new();
    // SAFETY: `Once` calls it a single time.
    INITIALISE.call_once(|| unsafe { register_target() });
}

/// # Safety
/// It is called by one thread at a time.
unsafe fn register_target() {
    // SAFETY: neither registration nor options may be set twice at the same time, which the caller ensures.
    unsafe {
        // They answer whether the build of LLVM has a native target; if not, the look-up by triple fails with a reason.
        LLVM_InitializeNativeTarget();
        LLVM_InitializeNativeAsmPrinter();
        // Only here are these bounds to be had.
        set_options(&SCHEDULER_BOUNDS);
    }
    keep_mask_extensions();
}

/// LLVM's name and version.
pub fn llvm_version() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("LLVM {major}.{minor}.{patch}")
}

fn has_feature(feature: &str) -> bool {
    this_host()
        .features
        .to_string_lossy()
        .split(',')
        .any(|feature_name| feature_name.strip_prefix('+') == Some(feature))
}

/// Bits of the widest vector registers, where at most `simd_limit` may be used.
fn register_bits(simd_limit: Option<u32>) -> u32 {
    let bit_width = match () {
        () if has_feature("avx512f") => 512,
        () if has_feature("avx2") => 256,
        () => 128,
    };
    bit_width.min(simd_limit.unwrap_or(bit_width)).max(128)
}

/// What the machine has, where registers of at most `simd_limit` bits may be used.
pub fn host_target(simd_limit: Option<u32>) -> TargetInfo {
    let maximum = simd_limit.unwrap_or(u32::MAX);
    let avx512 = has_feature("avx512f") && maximum > 256;
    TargetInfo {
        register_bits: register_bits(simd_limit),
        masks_in_vectors: has_feature("avx") && maximum > 128 && !avx512,
        masks: has_feature("avx") && maximum > 128,
        masks_of_bytes: avx512 && has_feature("avx512bw"),
        gathers: avx512,
        scatters: avx512,
        slow_masked_stores: !avx512,
        estimates: avx512 && has_feature("avx512vl"),
        eight_floats: has_feature("avx") && maximum > 128,
        permutes: avx512,
        halves: avx512 && has_feature("avx512fp16"),
    }
}

/// A code generator for the host. One thread at a time may use it.
pub struct HostMachine {
    raw: LLVMTargetMachineRef,
    level: OptLevel,
    target: TargetInfo,
}

impl HostMachine {
    /// Makes a code generator that uses vector registers of at most so many bits.
    pub fn new(opt_level: OptLevel, simd_limit: Option<u32>) -> Result<Self, MachineCodeError> {
        initialize_target();
        let host = this_host();
        let mut features = host.features.to_bytes().to_vec();
        // What is taken away last takes along what builds on it.
        match simd_limit {
            Some(0..=128) => features.extend_from_slice(b",-avx"),
            Some(129..=256) => features.extend_from_slice(b",-avx512f"),
            _ => {}
        }
        let features = CString::new(features).unwrap_or_default();
        let mut target = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: the strings are terminated and live as long as the program; the target is static data of LLVM.
        let raw_machine = unsafe {
            if LLVMGetTargetFromTriple(host.triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(MachineCodeError::Host(take_message(message)));
            }
            LLVMCreateTargetMachine(
                target,
                host.triple.as_ptr(),
                BASE_CPU.as_ptr(),
                features.as_ptr(),
                match opt_level {
                    OptLevel::None => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
                    OptLevel::Less => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
                    OptLevel::Default => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
                    OptLevel::Aggressive => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
                },
                // The object lands anywhere; functions of the C library may be far away and are called through stubs
                // that linking makes. So the small model holds, where constants are a relative address away.
                LLVMRelocMode::LLVMRelocPIC,
                LLVMCodeModel::LLVMCodeModelSmall,
            )
        };
        if raw_machine.is_null() {
            return Err(MachineCodeError::Host(format!("{} is not supported", host.triple.to_string_lossy())));
        }
        Ok(Self { raw: raw_machine, level: opt_level, target: host_target(simd_limit) })
    }

    /// As [`HostMachine::new`], but a thread makes each once: a code generator fills LLVM's tables of what the processor can do when it is
    /// first used, which takes 1.4 ms.
    ///
    /// # Errors
    /// As of [`HostMachine::new`].
    pub fn of_this_thread(opt_level: OptLevel, simd_limit: Option<u32>) -> Result<Rc<HostMachine>, MachineCodeError> {
        type Machines = Vec<(OptLevel, Option<u32>, Rc<HostMachine>)>;
        thread_local! {
            static MACHINES: RefCell<Machines> = const { RefCell::new(Vec::new()) };
        }
        MACHINES.with_borrow_mut(|machines| {
            let is_wanted =
                |&&(level, limit, _): &&(OptLevel, Option<u32>, _)| (level, limit) == (opt_level, simd_limit);
            if let Some((_, _, machine)) = machines.iter().find(is_wanted) {
                return Ok(machine.clone());
            }
            let machine = Rc::new(HostMachine::new(opt_level, simd_limit)?);
            machines.push((opt_level, simd_limit, machine.clone()));
            Ok(machine)
        })
    }

    /// How hard it tries.
    pub fn opt_level(&self) -> OptLevel {
        self.level
    }

    /// What it makes code for.
    pub fn target(&self) -> TargetInfo {
        self.target
    }

    /// For calls of the C interface.
    pub(super) fn as_raw(&self) -> LLVMTargetMachineRef {
        self.raw
    }

    /// The processor model to schedule for.
    pub(super) fn tuning_model(&self) -> String {
        this_host().tuning.to_string_lossy().into_owned()
    }

    /// Tells the module what it is for.
    pub(super) fn adopt_module(&self, module: &inkwell::module::Module<'_>) {
        // SAFETY: module and machine are alive; the layout is copied into the module and then freed.
        unsafe {
            llvm_sys::core::LLVMSetTarget(module.as_mut_ptr(), this_host().triple.as_ptr());
            let layout = LLVMCreateTargetDataLayout(self.raw);
            LLVMSetModuleDataLayout(module.as_mut_ptr(), layout);
            LLVMDisposeTargetData(layout);
        }
    }
}

impl Drop for HostMachine {
    fn drop(&mut self) {
        // SAFETY: ours, and freed once.
        unsafe { LLVMDisposeTargetMachine(self.raw) };
    }
}
