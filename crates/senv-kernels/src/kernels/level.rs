//! The SIMD level of the processor, detected once.

use std::sync::atomic::{AtomicU8, Ordering};

/// A SIMD level that this processor is known to support.
///
/// Values come only from [`Level::best`] and [`Level::available`], which query the processor. So code that has a value
/// can call the kernels of that level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level(InstructionSet);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum InstructionSet {
    /// Plain Rust.
    Portable = 1,
    /// 256-bit vectors: AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2 = 2,
    /// 512-bit vectors: AVX-512 F.
    #[cfg(target_arch = "x86_64")]
    Avx512 = 3,
    /// 128-bit vectors: NEON, which every aarch64 processor has.
    #[cfg(target_arch = "aarch64")]
    Neon = 4,
}

impl InstructionSet {
    const ALL: &[Self] = &[
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "aarch64")]
        Self::Neon,
        Self::Portable,
    ];

    fn is_supported(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f") && Self::Avx2.is_supported(),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => true,
        }
    }
}

/// The best [`InstructionSet`] as an integer; 0 until it is detected.
static BEST: AtomicU8 = AtomicU8::new(0);

impl Level {
    /// The fastest level of this processor. After the first call, this costs one load and one comparison.
    #[inline]
    pub(crate) fn best() -> Self {
        let known = BEST.load(Ordering::Relaxed);
        for &kind in InstructionSet::ALL {
            if known == kind as u8 {
                return Self(kind);
            }
        }
        Self::detect()
    }

    #[cold]
    fn detect() -> Self {
        let best = Self::available()[0];
        BEST.store(best.0 as u8, Ordering::Relaxed);
        best
    }

    /// All levels that this processor supports, fastest first, portable last.
    pub(crate) fn available() -> Vec<Self> {
        InstructionSet::ALL.iter().filter(|kind| kind.is_supported()).map(|&kind| Self(kind)).collect()
    }

    /// See [`super::panel_width`].
    pub(super) fn panel_width(self) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => 64,
            _ => 32,
        }
    }

    #[inline(always)]
    pub(super) fn kind(self) -> InstructionSet {
        self.0
    }
}
