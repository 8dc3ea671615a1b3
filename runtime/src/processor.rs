//! Which processor this is: code that was made for one may use instructions that another does not have.

use std::arch::x86_64::{__cpuid_count, __get_cpuid_max};

/// The leaves of `cpuid` with the processor's model and features, by number and sub-leaf: what the compiler reads to find out for
/// what it makes code.
const LEAVES: [(u32, u32); 9] =
    [(1, 0), (7, 0), (7, 1), (0xd, 1), (0x14, 0), (0x19, 0), (0x24, 0), (0x8000_0001, 0), (0x8000_0008, 0)];

/// The name of the processor's kind: equal where the compiler makes the same code. It belongs to the key of everything that is kept
/// of code.
pub(crate) fn processor_identity() -> String {
    let maker = __cpuid_count(0, 0);
    let mut identity = format!("x86-64 {:08x}{:08x}{:08x}", maker.ebx, maker.edx, maker.ecx);
    for (leaf, sub_leaf) in LEAVES {
        let most = __get_cpuid_max(leaf & 0x8000_0000).0;
        if leaf > most {
            continue;
        }
        let result = __cpuid_count(leaf, sub_leaf);
        // The other registers of these leaves tell which processor runs this, and how large things are.
        let registers = match (leaf, sub_leaf) {
            (1, _) => [result.eax, 0, result.ecx, result.edx],
            (0xd, _) => [result.eax, 0, 0, 0],
            (0x8000_0008, _) => [0, result.ebx, 0, 0],
            _ => [result.eax, result.ebx, result.ecx, result.edx],
        };
        registers.iter().for_each(|register| identity.push_str(&format!(" {register:x}")));
    }
    // Registers that the system does not keep for each thread are not used.
    identity.push_str(&format!(" {} {}", is_x86_feature_detected!("avx"), is_x86_feature_detected!("avx512f")));
    identity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_the_same_wherever_a_thread_runs() {
        let here = processor_identity();
        for _ in 0..8 {
            let elsewhere = std::thread::spawn(processor_identity).join().expect("it does not panic");
            assert_eq!(elsewhere, here);
        }
        assert!(here.split(' ').count() > 10, "{here}");
    }
}
