//! Every function outside of itself that generated code may call.
//!
//! The importer turns intrinsics for mathematical functions into calls of the C library's, and LLVM's code generator calls
//! by itself what it cannot write as instructions: intrinsics, block copies, half precision, 128-bit integers. Both find
//! their functions here. The process is not searched: what a kernel reaches must not depend on the application around it.

use super::{compiler_rt, coroutines};
use crate::clock;
use lockstep_protocol::kernel_abi::{COUNT_ITERATIONS, LaunchFrame, READ_CLOCK, TAKE_TURNS, YIELD};
use lockstep_protocol::loop_profile::{LoopCounters, MOST_COUNTED_LOOPS};
use lockstep_protocol::with_c_library_functions;

/// A function of the C library, whatever its type: only its address is used.
type Function = unsafe extern "C" fn();

macro_rules! declare_functions {
    ($($library:literal: $($name:ident)*;)*) => {{
        $(
            #[link(name = $library)]
            unsafe extern "C" {
                $(fn $name();)*
            }
        )*
        const TABLE: &[(&str, Function)] = &[$($((stringify!($name), $name as Function)),*),*];
        TABLE
    }};
}

/// The functions of the C library that code may call.
fn c_library_functions() -> &'static [(&'static str, Function)] {
    with_c_library_functions!(declare_functions)
}

/// The names by which LLVM knows the functions of [`compiler_rt`].
fn arithmetic_functions() -> [(&'static str, *const ()); 27] {
    [
        ("__extendhfsf2", compiler_rt::extend_half_to_float as *const ()),
        ("__extendhfdf2", compiler_rt::extend_half_to_double as *const ()),
        ("__truncsfhf2", compiler_rt::truncate_float_to_half as *const ()),
        ("__truncdfhf2", compiler_rt::truncate_double_to_half as *const ()),
        ("__gnu_h2f_ieee", compiler_rt::half_bits_to_float as *const ()),
        ("__gnu_f2h_ieee", compiler_rt::float_to_half_bits as *const ()),
        ("__truncsfbf2", compiler_rt::truncate_float_to_bfloat as *const ()),
        ("__truncdfbf2", compiler_rt::truncate_double_to_bfloat as *const ()),
        ("__udivti3", compiler_rt::divide_unsigned as *const ()),
        ("__umodti3", compiler_rt::remainder_unsigned as *const ()),
        ("__divti3", compiler_rt::divide_signed as *const ()),
        ("__modti3", compiler_rt::remainder_signed as *const ()),
        ("__multi3", compiler_rt::multiply_wide as *const ()),
        ("__muloti4", compiler_rt::multiply_with_overflow as *const ()),
        ("__ashlti3", compiler_rt::shift_left as *const ()),
        ("__ashrti3", compiler_rt::shift_right as *const ()),
        ("__lshrti3", compiler_rt::shift_right_unsigned as *const ()),
        ("__fixsfti", compiler_rt::float_to_signed as *const ()),
        ("__fixdfti", compiler_rt::double_to_signed as *const ()),
        ("__fixunssfti", compiler_rt::float_to_unsigned as *const ()),
        ("__fixunsdfti", compiler_rt::double_to_unsigned as *const ()),
        ("__floattisf", compiler_rt::signed_to_float as *const ()),
        ("__floattidf", compiler_rt::signed_to_double as *const ()),
        ("__floatuntisf", compiler_rt::unsigned_to_float as *const ()),
        ("__floatuntidf", compiler_rt::unsigned_to_double as *const ()),
        ("__powisf2", compiler_rt::float_power as *const ()),
        ("__powidf2", compiler_rt::double_power as *const ()),
    ]
}

/// The clock that kernels read.
extern "C" fn read_clock() -> u64 {
    clock::now_nanoseconds()
}

/// Adds a gang's way through a loop to the loop's counters.
///
/// # Safety
/// The frame is a launch's, and `lane_iterations` has a number for each of the lanes.
unsafe extern "C" fn count_iterations(
    launch_frame: *const LaunchFrame,
    loop_number: u32,
    lane_iterations: *const u32,
    lane_count: u32,
) {
    // SAFETY: as the caller promises. The counters are null or as many as the frame says, and live as long as the launch.
    let (counters, lane_iterations) = unsafe {
        let counters = (*launch_frame).loop_counters.cast::<[LoopCounters; MOST_COUNTED_LOOPS]>();
        (counters.as_ref(), std::slice::from_raw_parts(lane_iterations, lane_count as usize))
    };
    if let Some(loop_counters) = counters.and_then(|counters| counters.get(loop_number as usize)) {
        loop_counters.add_entry(lane_iterations);
    }
}

/// Every name with its address, in the order of [`IMPORTED_FUNCTIONS`](lockstep_protocol::code_image::IMPORTED_FUNCTIONS).
pub fn list_symbols() -> Vec<(&'static str, usize)> {
    let c_library = c_library_functions().iter().map(|&(name, function)| (name, function as usize));
    let driver = [
        (READ_CLOCK, read_clock as *const ()),
        (TAKE_TURNS, coroutines::run_region as *const ()),
        (YIELD, coroutines::go_on as *const ()),
        (COUNT_ITERATIONS, count_iterations as *const ()),
    ];
    let own_symbols = arithmetic_functions().into_iter().chain(driver);
    c_library.chain(own_symbols.map(|(name, address)| (name, address as usize))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_addresses_real() {
        let mut names = std::collections::BTreeSet::new();
        for (name, address) in list_symbols() {
            assert!(names.insert(name), "{name} twice");
            assert_ne!(address, 0, "{name}");
        }
        assert!(["sinf", "ldexp", "__truncdfhf2"].iter().all(|&name| names.contains(name)));
        assert!(!names.contains("system"));
    }
}
