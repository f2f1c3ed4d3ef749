//! The instruction sets: one module each, a token and the table of operations of [`crate::lanes`]. Everything that pulp
//! gives stays in here.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod neon;
pub(crate) mod ops;
pub(crate) mod partial_load;
pub(crate) mod portable;
pub(crate) mod token;
pub(crate) mod transpose;

/// A task as pulp takes it: what runs inside the function that has the target features.
#[cfg(target_arch = "x86_64")]
struct Region<T>(T);

#[cfg(target_arch = "x86_64")]
impl<T: token::Task> pulp::NullaryFnOnce for Region<T> {
    type Output = T::Output;

    #[inline(always)]
    fn call(self) -> T::Output {
        // SAFETY: the promise of the caller of `Token::enter`, where the only `Region`s are made.
        unsafe { self.0.run() }
    }
}
