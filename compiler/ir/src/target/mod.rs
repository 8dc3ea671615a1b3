//! What plans, costs and code generation ask of a machine: its vector registers and which instructions there are for them.
//!
//! One value answers all three, so that what is priced is what is emitted. Nothing here is asked of the processor: whoever
//! compiles for one says what it has, and tests name a machine by the bits of its registers.

use lockstep_protocol::types::Type;

/// A machine's vector registers and what its vector instructions do that not all machines' do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetInfo {
    /// Bits of the widest vector registers.
    pub register_bits: u32,
    /// Masks of accesses lie in vector registers, as AVX has them and AVX-512 does not.
    pub masks_in_vectors: bool,
    /// There are loads and stores of some of the lanes' elements of four and eight bytes (AVX).
    pub masks: bool,
    /// There are such loads and stores of elements of one and two bytes (AVX-512).
    pub masks_of_bytes: bool,
    /// There are loads of elements of four and eight bytes from anywhere, for some lanes as well, that pay (AVX-512). AVX2 has them, but
    /// on many processors they take as long as loads one by one, and LLVM makes branches of them there.
    pub gathers: bool,
    /// There are stores of such elements to anywhere (AVX-512).
    pub scatters: bool,
    /// A store of some lanes takes longer than asking whether there is any (AVX without AVX-512).
    pub slow_masked_stores: bool,
    /// Reciprocals and reciprocal square roots of all floats are estimated to 14 bits (AVX-512).
    pub estimates: bool,
    /// Eight floats are computed at once (AVX).
    pub eight_floats: bool,
    /// Registers have 512 bits, and any element of one or two of them is moved anywhere (AVX-512).
    pub permutes: bool,
    /// There is arithmetic in binary16 (AVX-512). Where there is none, LLVM goes through binary32, which gives the same
    /// result but for fused multiply-add.
    pub halves: bool,
}

/// Bytes of the narrowest element that gathers and scatters move.
const NARROWEST_GATHERED: u32 = 4;

impl TargetInfo {
    /// An x86-64 processor without AVX.
    const SSE: TargetInfo = TargetInfo {
        register_bits: 128,
        masks_in_vectors: false,
        masks: false,
        masks_of_bytes: false,
        gathers: false,
        scatters: false,
        slow_masked_stores: true,
        estimates: false,
        eight_floats: false,
        permutes: false,
        halves: false,
    };

    /// An x86-64 processor with AVX2.
    const AVX2: TargetInfo =
        TargetInfo { register_bits: 256, masks_in_vectors: true, masks: true, eight_floats: true, ..TargetInfo::SSE };

    /// An x86-64 processor with AVX-512 as servers have had it first.
    const AVX512: TargetInfo = TargetInfo {
        register_bits: 512,
        masks_in_vectors: false,
        masks_of_bytes: true,
        gathers: true,
        scatters: true,
        slow_masked_stores: false,
        estimates: true,
        permutes: true,
        ..TargetInfo::AVX2
    };

    /// What x86-64 processors have whose widest registers are of so many bits.
    pub const fn of_bits(bits: u32) -> TargetInfo {
        match bits {
            512.. => TargetInfo::AVX512,
            256..512 => TargetInfo::AVX2,
            _ => TargetInfo::SSE,
        }
    }

    /// Whether one instruction loads elements of so many bytes from anywhere.
    pub fn has_gather(&self, bytes: u32) -> bool {
        self.gathers && bytes >= NARROWEST_GATHERED
    }

    /// Whether one instruction stores elements of so many bytes to anywhere.
    pub fn has_scatter(&self, bytes: u32) -> bool {
        self.scatters && bytes >= NARROWEST_GATHERED
    }

    /// Whether one instruction accesses some of the elements of so many bytes that lie side by side.
    pub fn has_row_mask(&self, bytes: u32) -> bool {
        if bytes >= NARROWEST_GATHERED { self.masks } else { self.masks_of_bytes }
    }
}

/// The registers of a machine, and the work-items of a gang in their lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// The machine that has them.
    pub target: TargetInfo,
    /// Work-items of a gang.
    pub width: u32,
}

impl Registers {
    /// Bits of the widest vector registers.
    pub fn bits(self) -> u32 {
        self.target.register_bits
    }

    /// Registers that a vector of the gang's elements takes.
    pub fn registers_for(self, value_type: Type) -> u64 {
        u64::from((value_type.bytes() * 8 * self.width).div_ceil(self.bits()).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_by_the_bits_of_registers() {
        let found = |bits: u32| {
            let target = TargetInfo::of_bits(bits);
            assert_eq!(target.register_bits, bits);
            [2, 4].map(|bytes| (target.has_gather(bytes), target.has_scatter(bytes), target.has_row_mask(bytes)))
        };
        assert_eq!(found(128), [(false, false, false); 2]);
        assert_eq!(found(256), [(false, false, false), (false, false, true)]);
        assert_eq!(found(512), [(false, false, true), (true, true, true)]);
    }

    #[test]
    fn registers_of_a_gang() {
        let registers = |bits| Registers { target: TargetInfo::of_bits(bits), width: 16 };
        assert_eq!([128, 256, 512].map(|bits| registers(bits).registers_for(Type::F32)), [4, 2, 1]);
        assert_eq!([128, 256, 512].map(|bits| registers(bits).registers_for(Type::BOOL)), [1, 1, 1]);
    }
}
