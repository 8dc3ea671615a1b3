//! Operation codes and their names in text.

/// Declares an enum of operations, each with the name it has in text.
macro_rules! ops {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every operation of this kind.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The name used in text.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// The operation with this name.
            pub fn from_name(name: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|op| op.name() == name)
            }
        }
    };
}

ops! {
    /// Operations of one operand. Casts take their target type from the result.
    UnaryOp {
        /// The operand, or any one value where the operand is poison.
        Freeze = "freeze",
        /// Floating-point negation (sign bit only).
        Fneg = "fneg",
        /// Keep the low bits.
        Trunc = "trunc",
        /// Zero extension.
        Zext = "zext",
        /// Sign extension.
        Sext = "sext",
        /// To a narrower float, round to nearest even.
        FpTrunc = "fptrunc",
        /// To a wider float.
        FpExt = "fpext",
        /// Float to signed, toward zero; poison out of range.
        FpToSi = "fptosi",
        /// Float to unsigned, toward zero; poison out of range.
        FpToUi = "fptoui",
        /// Float to signed, toward zero, saturating, NaN to 0.
        FpToSiSat = "fptosi_sat",
        /// Float to unsigned, toward zero, saturating, NaN to 0.
        FpToUiSat = "fptoui_sat",
        /// Signed to float, round to nearest even.
        SiToFp = "sitofp",
        /// Unsigned to float, round to nearest even.
        UiToFp = "uitofp",
        /// Same bits, int and float of one width.
        Bitcast = "bitcast",
        /// Address to integer.
        PtrToInt = "ptrtoint",
        /// Integer to address.
        IntToPtr = "inttoptr",
        /// Same address, other space.
        SpaceCast = "spacecast",
        /// Number of one bits.
        Popcount = "popcount",
        /// Leading zeros; the width for 0.
        Clz = "clz",
        /// Trailing zeros; the width for 0.
        Ctz = "ctz",
        /// Byte order reversed.
        Bswap = "bswap",
        /// Bit order reversed.
        Bitreverse = "bitreverse",
        /// Absolute value of a signed integer, wrapping.
        Iabs = "iabs",
        /// Absolute value (sign bit only).
        Fabs = "fabs",
        /// Correctly rounded square root.
        Sqrt = "sqrt",
        /// One over the square root of an f32: the quotient of the rounded root, or as close to it as two units in the
        /// last place.
        Rsqrt = "rsqrt",
        /// One over an f32, off by 2^-11 of it at most; denormal operands and results may count as zeros of their sign.
        RecipEstimate = "recip_estimate",
        /// One over the square root of an f32 or f64, off by 2^-11 of it at most; denormal operands may count as zeros of
        /// their sign, and of an f64 that is no positive normal number there is any result.
        RsqrtEstimate = "rsqrt_estimate",
        /// One over the square root of an f32, off by 2^-14 of it at most; denormal operands may count as zeros of their sign.
        RsqrtNative = "rsqrt_native",
        /// The n of an f64 that is m 2^n for an m from 3/4 up to 3/2: minus infinity for a zero, infinity for one.
        Logb = "logb",
        /// The m of a positive f64 that is m 2^n for an m from 3/4 up to 3/2; 1 for infinity, a finite number for a zero of
        /// either sign, NaN below zero.
        Significand = "significand",
        /// Toward minus infinity.
        Floor = "floor",
        /// Toward plus infinity.
        Ceil = "ceil",
        /// Toward zero.
        Ftrunc = "ftrunc",
        /// To nearest even.
        Rint = "rint",
        /// To nearest, halves away from zero.
        Round = "round",
        /// The same number with a quiet NaN (and flushed denormals where the mode flushes).
        Canonicalize = "canonicalize",
        /// The same number, as it is rounded here: what computes it and what uses it are not made one, whatever their flags allow.
        ArithmeticFence = "arithmetic_fence",
        /// The address space a generic address is in: SPIR's number as i32.
        SpaceOf = "space_of",
    }
}

ops! {
    /// What a collective operation answers.
    Collect {
        /// To all the same: what all values are together.
        Reduce = "reduce",
        /// To each work-item: what the values up to its own are together.
        Inclusive = "inclusive",
        /// To each work-item: what the values before its own are together; the first one gets the identity.
        Exclusive = "exclusive",
    }
}

ops! {
    /// Operations of two operands of one type (shift counts included).
    BinaryOp {
        /// Sum.
        Add = "add",
        /// Difference.
        Sub = "sub",
        /// Product.
        Mul = "mul",
        /// Unsigned quotient; undefined for 0.
        Udiv = "udiv",
        /// Signed quotient toward zero; undefined for 0 and for MIN / -1.
        Sdiv = "sdiv",
        /// Unsigned remainder.
        Urem = "urem",
        /// Signed remainder, sign of the dividend.
        Srem = "srem",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Shift left; poison for counts not below the width.
        Shl = "shl",
        /// Logical shift right.
        Lshr = "lshr",
        /// Arithmetic shift right.
        Ashr = "ashr",
        /// Signed minimum.
        Smin = "smin",
        /// Signed maximum.
        Smax = "smax",
        /// Unsigned minimum.
        Umin = "umin",
        /// Unsigned maximum.
        Umax = "umax",
        /// Signed sum, saturating.
        SaddSat = "sadd_sat",
        /// Unsigned sum, saturating.
        UaddSat = "uadd_sat",
        /// Signed difference, saturating.
        SsubSat = "ssub_sat",
        /// Unsigned difference, saturating.
        UsubSat = "usub_sat",
        /// Float sum.
        Fadd = "fadd",
        /// Float difference.
        Fsub = "fsub",
        /// Float product.
        Fmul = "fmul",
        /// Float quotient.
        Fdiv = "fdiv",
        /// A quotient of f32, off by 2^-10 of it at most; denormal operands and results may count as zeros of their sign.
        QuotientEstimate = "quotient_estimate",
        /// C's fmod.
        Frem = "frem",
        /// The smaller; the other one where one is NaN.
        Fmin = "fmin",
        /// The larger; the other one where one is NaN.
        Fmax = "fmax",
        /// Magnitude of the first, sign of the second.
        Copysign = "copysign",
        /// (1 + a) 2^n of f64 for a multiple n of 1/16 from -2000 to 2000. What counts is b, which is n more than 1.5 * 2^48:
        /// the last four bits of such a sum are the sixteenths. The fraction's power is one of [`ROOTS`]. NaN where a is; b may
        /// be NaN only there.
        Powered = "powered",
    }
}

/// The bits of 2^(i/16), rounded to nearest, for `BinaryOp::Powered`.
pub const ROOTS: [u64; 16] = [
    0x3ff0_0000_0000_0000,
    0x3ff0_b558_6cf9_890f,
    0x3ff1_72b8_3c7d_517b,
    0x3ff2_387a_6e75_6238,
    0x3ff3_06fe_0a31_b715,
    0x3ff3_dea6_4c12_3422,
    0x3ff4_bfda_d536_2a27,
    0x3ff5_ab07_dd48_5429,
    0x3ff6_a09e_667f_3bcd,
    0x3ff7_a114_73eb_0187,
    0x3ff8_ace5_422a_a0db,
    0x3ff9_c491_82a3_f090,
    0x3ffa_e89f_995a_d3ad,
    0x3ffc_199b_dd85_529c,
    0x3ffd_5818_dcfb_a487,
    0x3ffe_a4af_a2a4_90da,
];

/// What counts for `BinaryOp::Powered` where n is zero.
pub const COUNTS_SIXTEENTHS: f64 = 422_212_465_065_984.0;

ops! {
    /// Operations of three operands.
    TernaryOp {
        /// First (a condition) chooses the second (true) or the third.
        Select = "select",
        /// a * b + c, rounded once.
        Fma = "fma",
        /// a * b + c, rounded once or twice as is faster.
        FmulAdd = "fmuladd",
        /// (a + b) 2^n for an integer n from -250 to 250, or -2000 to 2000 of f64. What counts is c, which is n more than
        /// 1.5 * 2^23 + 254, or of f64 1.5 * 2^52 + 2046: the bits of such a sum end with n. Off by no more than the sum is,
        /// and the rounding of the result, as long as half the power leaves the sum normal. NaN where a or b is; c may be NaN
        /// only there.
        Scaled = "scaled",
        /// High half of (a:b) << (c mod width).
        Fshl = "fshl",
        /// Low half of (a:b) >> (c mod width).
        Fshr = "fshr",
    }
}

ops! {
    /// Integer and pointer comparisons.
    IntCc {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Signed less.
        Slt = "slt",
        /// Signed less or equal.
        Sle = "sle",
        /// Signed greater.
        Sgt = "sgt",
        /// Signed greater or equal.
        Sge = "sge",
        /// Unsigned less.
        Ult = "ult",
        /// Unsigned less or equal.
        Ule = "ule",
        /// Unsigned greater.
        Ugt = "ugt",
        /// Unsigned greater or equal.
        Uge = "uge",
    }
}

ops! {
    /// Float comparisons: `o…` false, `u…` true where an operand is NaN.
    FloatCc {
        /// Ordered and equal.
        Oeq = "oeq",
        /// Ordered and greater.
        Ogt = "ogt",
        /// Ordered and greater or equal.
        Oge = "oge",
        /// Ordered and less.
        Olt = "olt",
        /// Ordered and less or equal.
        Ole = "ole",
        /// Ordered and not equal.
        One = "one",
        /// Neither is NaN.
        Ord = "ord",
        /// One is NaN.
        Uno = "uno",
        /// Unordered or equal.
        Ueq = "ueq",
        /// Unordered or greater.
        Ugt = "ugt",
        /// Unordered or greater or equal.
        Uge = "uge",
        /// Unordered or less.
        Ult = "ult",
        /// Unordered or less or equal.
        Ule = "ule",
        /// Unordered or not equal.
        Une = "une",
    }
}

ops! {
    /// What a work-item can ask about its place; each is asked per dimension and is an i64, but
    /// `linear_id` (dimension 0) and `work_dim` (dimension 0, i32).
    Query {
        /// get_global_id.
        GlobalId = "global_id",
        /// get_local_id.
        LocalId = "local_id",
        /// get_group_id.
        GroupId = "group_id",
        /// get_global_size.
        GlobalSize = "global_size",
        /// get_local_size: smaller in the last, non-uniform group.
        LocalSize = "local_size",
        /// get_enqueued_local_size.
        EnqueuedLocalSize = "enqueued_local_size",
        /// get_num_groups.
        NumGroups = "num_groups",
        /// get_global_offset.
        GlobalOffset = "global_offset",
        /// get_local_linear_id (dimension 0).
        LinearId = "linear_id",
        /// get_work_dim.
        WorkDim = "work_dim",
    }
}

ops! {
    /// Read-modify-write operations; each yields the old value.
    AtomicOp {
        /// Exchange.
        Xchg = "xchg",
        /// Sum.
        Add = "add",
        /// Difference.
        Sub = "sub",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Signed maximum.
        Smax = "smax",
        /// Signed minimum.
        Smin = "smin",
        /// Unsigned maximum.
        Umax = "umax",
        /// Unsigned minimum.
        Umin = "umin",
        /// Float sum.
        Fadd = "fadd",
        /// Float difference.
        Fsub = "fsub",
        /// Float maximum.
        Fmax = "fmax",
        /// Float minimum.
        Fmin = "fmin",
    }
}

impl IntCc {
    /// The same with its operands exchanged.
    pub fn swapped(self) -> IntCc {
        match self {
            IntCc::Eq | IntCc::Ne => self,
            IntCc::Slt => IntCc::Sgt,
            IntCc::Sle => IntCc::Sge,
            IntCc::Sgt => IntCc::Slt,
            IntCc::Sge => IntCc::Sle,
            IntCc::Ult => IntCc::Ugt,
            IntCc::Ule => IntCc::Uge,
            IntCc::Ugt => IntCc::Ult,
            IntCc::Uge => IntCc::Ule,
        }
    }
}

impl AtomicOp {
    /// What makes the new value of the old one and the operand; `None` for an exchange.
    pub fn binary(self) -> Option<BinaryOp> {
        Some(match self {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Sub => BinaryOp::Sub,
            AtomicOp::And => BinaryOp::And,
            AtomicOp::Or => BinaryOp::Or,
            AtomicOp::Xor => BinaryOp::Xor,
            AtomicOp::Smax => BinaryOp::Smax,
            AtomicOp::Smin => BinaryOp::Smin,
            AtomicOp::Umax => BinaryOp::Umax,
            AtomicOp::Umin => BinaryOp::Umin,
            AtomicOp::Fadd => BinaryOp::Fadd,
            AtomicOp::Fsub => BinaryOp::Fsub,
            AtomicOp::Fmax => BinaryOp::Fmax,
            AtomicOp::Fmin => BinaryOp::Fmin,
            AtomicOp::Xchg => return None,
        })
    }
}

ops! {
    /// Memory orders, weakest first.
    Ordering {
        /// Atomic, no order.
        Relaxed = "relaxed",
        /// Acquire.
        Acquire = "acquire",
        /// Release.
        Release = "release",
        /// Acquire and release.
        AcqRel = "acq_rel",
        /// Sequentially consistent.
        SeqCst = "seq_cst",
    }
}

/// What an integer operation promises: a broken promise gives poison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct IntFlags {
    /// No signed wrap.
    pub nsw: bool,
    /// No unsigned wrap.
    pub nuw: bool,
}

/// Freedom given by the build options for one floating-point operation, as LLVM's bits
/// (reassoc 1, nnan 2, ninf 4, nsz 8, arcp 16, contract 32, afn 64).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FastMath(pub u8);

impl FastMath {
    /// The flags' names in the order of their bits.
    pub const NAMES: [&'static str; 7] = ["reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"];
    const ARCP: u8 = 16;

    /// Whether quotients may be computed with reciprocals, and these estimated.
    pub fn allows_reciprocals(self) -> bool {
        self.0 & FastMath::ARCP != 0
    }

    /// The flags without those by which infinities and NaN are poison.
    pub fn with_all_values(self) -> FastMath {
        FastMath(self.0 & !6)
    }

    /// The flags for LLVM, whose own estimates are NaN at zero and infinity.
    pub fn with_exact_reciprocals(self) -> FastMath {
        if self.0 & 6 == 6 { self } else { FastMath(self.0 & !FastMath::ARCP) }
    }
}
