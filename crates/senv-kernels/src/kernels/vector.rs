//! Kernels written once over an abstract vector, which each level implements.
//!
//! Everything here is `inline(always)` and inlined into the entry points of a level, which have the target features. So
//! it compiles to the instructions of that level.
#![allow(unsafe_code)]

/// A SIMD register of `LANES` values.
///
/// # Safety of the methods
/// The caller guarantees that the processor has the instructions of the level.
pub(super) trait Vector: Copy {
    /// Values per register.
    const LANES: usize;
    /// Rows of the first and the second factor that [`super::products`] keeps in registers.
    const SCORE_BLOCK: (usize, usize);
    /// Rows and vectors of the result that [`super::products`] keeps in registers.
    const PRODUCT_BLOCK: (usize, usize);
    /// Vectors of a panel, at most 4, that [`super::panels`] multiplies with each value of a row.
    const PANEL_VECTORS: usize;
    /// Rows that it keeps in registers for one, two, three and four vectors of the panel.
    const PANEL_ROWS: [usize; 4];

    unsafe fn splat(x: f32) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    /// `self * a + b`, rounded once.
    unsafe fn mul_add(self, a: Self, b: Self) -> Self;
    /// sign(x) max(|x| − tau, 0); NaN stays NaN.
    unsafe fn shrink(self, tau: Self) -> Self;
    /// The sums of the lanes of four vectors, each added in the same order.
    unsafe fn sum4(v: [Self; 4]) -> [f32; 4];
    /// `y += c x` for the signed half bytes of 32 bytes, the lower half of each first. Like the scalar form, uses no
    /// fused multiply-add.
    #[inline(always)]
    unsafe fn add_int4_block(c: f32, x: &[u8; 32], y: &mut [f32; 64]) {
        super::compressed::add_int4_block(c, x, y);
    }
    /// Columns whose sums [`Vector::sum_int4_block`] keeps in registers, an even number; 0 if the level does not
    /// implement it.
    const INT4_COLUMNS: usize = 0;
    /// `out = Σ_{r in ids} s_r q_r` for [`Vector::INT4_COLUMNS`] columns, with each product and each sum rounded. Row
    /// `r` starts at `codes + r stride`.
    ///
    /// # Safety
    /// The rows have these columns and a scale each.
    #[inline(always)]
    unsafe fn sum_int4_block(_codes: *const u8, _stride: usize, _scales: *const f32, _ids: &[u32], _out: &mut [f32]) {}

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::splat(0.0) }
    }
}

/// Loads and stores between memory and registers.
///
/// # Safety of the methods
/// As for [`Vector`]; and `p` points to `LANES` values that may be read, or written. The `_part` methods are for the
/// end of a row: they access only the first `n < LANES` values and read zero for the others.
pub(super) trait Memory<V: Vector> {
    unsafe fn load(p: *const f32) -> V;
    unsafe fn load_part(p: *const f32, n: usize) -> V;
    unsafe fn store(p: *mut f32, v: V);
    unsafe fn store_part(p: *mut f32, n: usize, v: V);
}

/// Memory that no other thread writes to.
pub(super) struct PlainMemory;

/// Memory that other threads may read and write at the same time; see [`super::shared`].
pub(super) struct SharedMemory;

/// Accumulators per sum: enough to hide the latency of a multiply-add.
const PARTS: usize = 4;

/// Vectors per round of an update: the compiler does not unroll loops around assembly.
const UNROLL: usize = 4;

#[inline(always)]
unsafe fn total<V: Vector>(p: [V; PARTS]) -> V {
    // SAFETY: guaranteed by the caller.
    unsafe { p[0].add(p[1]).add(p[2].add(p[3])) }
}

/// a·b
///
/// # Safety
/// Both point to `n` values.
#[inline(always)]
pub(super) unsafe fn dot<V: Vector>(a: *const f32, b: *const f32, n: usize) -> f32
where
    PlainMemory: Memory<V>,
{
    // SAFETY: every offset is below `n`.
    unsafe {
        let mut parts = [V::zero(); PARTS];
        let mut i = 0;
        while i + PARTS * V::LANES <= n {
            for part in &mut parts {
                *part = PlainMemory::load(a.add(i)).mul_add(PlainMemory::load(b.add(i)), *part);
                i += V::LANES;
            }
        }
        for part in &mut parts[..PARTS - 1] {
            if i + V::LANES <= n {
                *part = PlainMemory::load(a.add(i)).mul_add(PlainMemory::load(b.add(i)), *part);
                i += V::LANES;
            }
        }
        if i < n {
            let last = &mut parts[PARTS - 1];
            *last = PlainMemory::load_part(a.add(i), n - i).mul_add(PlainMemory::load_part(b.add(i), n - i), *last);
        }
        let zero = V::zero();
        V::sum4([total(parts), zero, zero, zero])[0]
    }
}

#[inline(always)]
unsafe fn step3<V: Vector>(part: &mut [V; 3], x: V, y: V) {
    // SAFETY: guaranteed by the caller.
    unsafe { *part = [x.mul_add(x, part[0]), y.mul_add(y, part[1]), x.mul_add(y, part[2])] }
}

/// `[u·u, v·v, u·v]` in one pass.
///
/// # Safety
/// Both point to `n` values.
#[inline(always)]
pub(super) unsafe fn squares<V: Vector>(u: *const f32, v: *const f32, n: usize) -> [f32; 3]
where
    PlainMemory: Memory<V>,
{
    // SAFETY: every offset is below `n`.
    unsafe {
        // Two vectors per sum: six chains hide the latency of the multiply-adds.
        let mut parts = [[V::zero(); 3]; 2];
        let mut i = 0;
        while i + 2 * V::LANES <= n {
            for part in &mut parts {
                step3(part, PlainMemory::load(u.add(i)), PlainMemory::load(v.add(i)));
                i += V::LANES;
            }
        }
        if i + V::LANES <= n {
            step3(&mut parts[0], PlainMemory::load(u.add(i)), PlainMemory::load(v.add(i)));
            i += V::LANES;
        }
        if i < n {
            step3(&mut parts[1], PlainMemory::load_part(u.add(i), n - i), PlainMemory::load_part(v.add(i), n - i));
        }
        let [p, q] = parts;
        let [uu, vv, uv, _] = V::sum4([p[0].add(q[0]), p[1].add(q[1]), p[2].add(q[2]), V::zero()]);
        [uu, vv, uv]
    }
}

/// An elementwise operation. It is a trait because closures do not inherit `inline(always)`.
pub(super) trait Op<V: Vector> {
    /// The new `y`.
    ///
    /// # Safety
    /// As for [`Vector`].
    unsafe fn apply(&self, x: V, y: V) -> V;
}

/// `c x + y`
pub(super) struct Axpy(pub(super) f32);
/// `x + y`
pub(super) struct Add;
/// `c y`
pub(super) struct Scale(pub(super) f32);
/// `x`
pub(super) struct Take;
/// sign(y) max(|y| − tau, 0)
pub(super) struct Shrink(pub(super) f32);

macro_rules! op {
    ($op:ident, |$self:ident, $x:ident, $y:ident| $value:expr) => {
        impl<V: Vector> Op<V> for $op {
            #[inline(always)]
            unsafe fn apply(&$self, $x: V, $y: V) -> V {
                // SAFETY: guaranteed by the caller.
                #[allow(unused_unsafe)]
                unsafe { $value }
            }
        }
    };
}
op!(Axpy, |self, x, y| V::splat(self.0).mul_add(x, y));
op!(Add, |self, x, y| x.add(y));
op!(Scale, |self, _x, y| V::splat(self.0).mul(y));
op!(Take, |self, x, _y| x);
op!(Shrink, |self, _x, y| y.shrink(V::splat(self.0)));

/// `y = op(x, y)`
///
/// # Safety
/// Both point to `n` values and do not overlap; `y` may be written to.
#[inline(always)]
pub(super) unsafe fn update<V: Vector, X: Memory<V>, Y: Memory<V>>(
    op: impl Op<V>,
    x: *const f32,
    y: *mut f32,
    n: usize,
) {
    // SAFETY: every offset is below `n`.
    unsafe {
        let mut i = 0;
        while i + UNROLL * V::LANES <= n {
            for k in 0..UNROLL {
                let at = i + k * V::LANES;
                Y::store(y.add(at), op.apply(X::load(x.add(at)), Y::load(y.add(at))));
            }
            i += UNROLL * V::LANES;
        }
        while i + V::LANES <= n {
            Y::store(y.add(i), op.apply(X::load(x.add(i)), Y::load(y.add(i))));
            i += V::LANES;
        }
        if i < n {
            let rest = n - i;
            Y::store_part(y.add(i), rest, op.apply(X::load_part(x.add(i), rest), Y::load_part(y.add(i), rest)));
        }
    }
}

/// `y = op(·, y)`
///
/// # Safety
/// `y` points to `n` values that may be written to.
#[inline(always)]
pub(super) unsafe fn update_alone<V: Vector, Y: Memory<V>>(op: impl Op<V>, y: *mut f32, n: usize) {
    // SAFETY: every offset is below `n`.
    unsafe {
        let mut i = 0;
        while i + UNROLL * V::LANES <= n {
            for k in 0..UNROLL {
                let at = i + k * V::LANES;
                Y::store(y.add(at), op.apply(V::zero(), Y::load(y.add(at))));
            }
            i += UNROLL * V::LANES;
        }
        while i + V::LANES <= n {
            Y::store(y.add(i), op.apply(V::zero(), Y::load(y.add(i))));
            i += V::LANES;
        }
        if i < n {
            Y::store_part(y.add(i), n - i, op.apply(V::zero(), Y::load_part(y.add(i), n - i)));
        }
    }
}
