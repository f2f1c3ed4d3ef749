//! Loops by the vectors of an ISA, and how they give one byte for each lane. Nothing here knows what is compared.

use crate::Isa;
#[cfg(target_arch = "x86_64")]
use {core::arch::x86_64::__m256i, pulp::x86::V3};

/// How many lanes a loop goes through at a time: as many as the longest vector has bytes, at least.
pub(super) const CHUNK: usize = 32;

/// One byte for each lane of a chunk.
pub(super) type Bytes = [i8; CHUNK];

/// A signed integer as wide as elements or indices.
pub(super) trait Lane: Copy + From<i8> {
    /// The low byte of each.
    fn low_bytes(lanes: [Self; CHUNK]) -> Bytes;

    /// The same by AVX2. All lanes fit a byte.
    #[cfg(target_arch = "x86_64")]
    fn low_bytes_avx2(simd: V3, lanes: [Self; CHUNK]) -> Bytes;
}

macro_rules! lanes {
    ($($lane:ident: |$simd:ident, $vectors:ident| $narrow:expr;)+) => {$(
        impl Lane for $lane {
            #[inline(always)]
            fn low_bytes(lanes: [$lane; CHUNK]) -> Bytes {
                let mut bytes = [0; CHUNK];
                for n in 0..CHUNK {
                    bytes[n] = lanes[n] as i8;
                }
                bytes
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn low_bytes_avx2($simd: V3, lanes: [$lane; CHUNK]) -> Bytes {
                let $vectors: [__m256i; size_of::<$lane>()] = bytemuck::cast(lanes);
                bytemuck::cast::<__m256i, Bytes>($narrow)
            }
        }
    )+};
}

// Packing works in each half of a vector, so that what comes out has to be put in order.
lanes! {
    i8: |_simd, vectors| vectors[0];
    i16: |simd, vectors| {
        let packed = simd.avx2._mm256_packs_epi16(vectors[0], vectors[1]);
        simd.avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(packed)
    };
    i32: |simd, vectors| {
        let order = bytemuck::cast([0, 4, 1, 5, 2, 6, 3, 7_i32]);
        simd.avx2._mm256_permutevar8x32_epi32(pack_32(simd, vectors), order)
    };
    i64: |simd, vectors| {
        let low_halves = |n: usize| -> __m256i {
            let [a, b] = [vectors[2 * n], vectors[2 * n + 1]].map(bytemuck::cast);
            bytemuck::cast(simd.avx._mm256_shuffle_ps::<0b10_00_10_00>(a, b))
        };
        let packed = pack_32(simd, [low_halves(0), low_halves(1), low_halves(2), low_halves(3)]);
        let order = [[0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15_u8]; 2];
        let halves = simd.avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
        simd.avx2._mm256_shuffle_epi8(halves, bytemuck::cast(order))
    };
}

/// Packs lanes of 32 bits to bytes, in each half.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn pack_32(simd: V3, [a, b, c, d]: [__m256i; 4]) -> __m256i {
    simd.avx2._mm256_packs_epi16(simd.avx2._mm256_packs_epi32(a, b), simd.avx2._mm256_packs_epi32(c, d))
}

/// How lanes become bytes: by instructions that the compiler does not find, or as the compiler knows.
pub(super) trait Narrow: Copy {
    fn narrow<L: Lane>(self, lanes: [L; CHUNK]) -> Bytes;
}

#[cfg(target_arch = "x86_64")]
impl Narrow for V3 {
    #[inline(always)]
    fn narrow<L: Lane>(self, lanes: [L; CHUNK]) -> Bytes {
        L::low_bytes_avx2(self, lanes)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Narrow for Plain {
    #[inline(always)]
    fn narrow<L: Lane>(self, lanes: [L; CHUNK]) -> Bytes {
        L::low_bytes(lanes)
    }
}

/// A loop, to be compiled with the target features of an ISA. Inlined always.
pub(super) trait Pass {
    fn run<N: Narrow>(self, narrow: N);
}

/// The vectors of an ISA that this machine has.
#[derive(Clone, Copy)]
pub(super) enum Vectors {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(V3),
    #[cfg(target_arch = "x86_64")]
    Avx512(pulp::x86::V4),
    #[cfg(target_arch = "aarch64")]
    Neon(pulp::aarch64::Neon),
}

impl Vectors {
    pub(super) fn of(isa: Isa) -> Vectors {
        let vectors = match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => V3::try_new().map(Vectors::Avx2),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => pulp::x86::V4::try_new().map(Vectors::Avx512),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => pulp::aarch64::Neon::try_new().map(Vectors::Neon),
            _ => None,
        };
        vectors.unwrap_or(Vectors::Portable)
    }

    /// Runs a loop inside a function that has the ISA's target features. Without those for which there is
    /// [`Vectors::run_by_masks`].
    #[inline(never)]
    pub(super) fn run<P: Pass>(self, pass: P) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2(simd) => simd.vectorize(Entered { pass, narrow: simd }),
            #[cfg(target_arch = "aarch64")]
            Vectors::Neon(simd) => simd.vectorize(Entered { pass, narrow: Plain }),
            _ => pass.run(Plain),
        }
    }

    /// The same by vectors that have masks, one bit for each lane whatever its width; or the loop, if these have none.
    pub(super) fn run_by_masks<P: Pass>(self, pass: P) -> Result<(), P> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512(simd) => {
                simd.vectorize(Entered { pass, narrow: Plain });
                Ok(())
            }
            _ => Err(pass),
        }
    }
}

struct Entered<P, N> {
    pass: P,
    narrow: N,
}

impl<P: Pass, N: Narrow> pulp::NullaryFnOnce for Entered<P, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.pass.run(self.narrow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// Every lane becomes its byte, at its place.
    #[test]
    fn lanes_become_bytes() {
        fn check<L: Lane + Debug>() {
            let bytes: Bytes = std::array::from_fn(|n| (n as i8).wrapping_mul(37));
            struct Check<L>([L; CHUNK], Bytes);
            impl<L: Lane> Pass for Check<L> {
                #[inline(always)]
                fn run<N: Narrow>(self, narrow: N) {
                    assert_eq!(narrow.narrow(self.0), self.1);
                }
            }
            for isa in Isa::available() {
                let check = || Check(bytes.map(L::from), bytes);
                Vectors::of(isa).run(check());
                assert_eq!(Vectors::of(isa).run_by_masks(check()).is_ok(), isa == Isa::Avx512);
            }
        }
        check::<i8>();
        check::<i16>();
        check::<i32>();
        check::<i64>();
    }
}
