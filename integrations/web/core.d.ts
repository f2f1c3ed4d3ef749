/** The types of elements. */
export type ElementType = "f16" | "f32" | "f64" | "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64";
/** The types of indices. */
export type IndexType = "u8" | "u16" | "i32" | "u32" | "i64" | "u64";

/** `Float16Array`, where the engine (and TypeScript's library) has it. */
type Float16 = typeof globalThis extends { Float16Array: { prototype: infer A } } ? A : never;

/** The arrays of each type. */
export interface Arrays {
    f16: Float16;
    f32: Float32Array;
    f64: Float64Array;
    i8: Int8Array;
    u8: Uint8Array;
    i16: Int16Array;
    u16: Uint16Array;
    i32: Int32Array;
    u32: Uint32Array;
    i64: BigInt64Array;
    u64: BigUint64Array;
}

/** What can be reduced. */
export type Elements = Arrays[ElementType] | Uint8ClampedArray;

/** How to reduce. All of it may be left out. */
export interface Options<I extends IndexType = IndexType, V extends boolean = boolean, O = unknown> {
    /** The axis, or some of them, from 0 or from the end (-1); without, all are reduced. None (`[]`): every index is 0. */
    axis?: number | readonly number[] | undefined;
    /** Whether reduced axes stay in the shape, with size 1. Without: no. */
    keepDims?: boolean;
    /** Whether the last of equals is the answer, not the first. Without: no. */
    selectLast?: boolean;
    /** Whether NaN is better than every number, as in NumPy ("propagate", the default), or worse ("ignore"). */
    nan?: "propagate" | "ignore";
    /** The type of the indices. Without: "u32". */
    indexType?: I;
    /** A byte for each element: where it is 0, the element is not there. */
    where?: Uint8Array | undefined;
    /** The index where nothing is there. Without, that is a RangeError. */
    fill?: number;
    /** Whether the best elements themselves are answered, too. Without: no. */
    values?: V;
    /**
     * Arrays that the answer is written to, which then has them: of its types, and as long as it has outputs. An answer of an
     * earlier call is such an object. Without: new ones. Where the call throws, nothing is written.
     */
    out?: O | undefined;
}

/** Arrays that answers are written to. */
export interface Out<A extends Elements, I extends IndexType, V extends boolean> {
    indices: Arrays[I];
    values?: V extends true ? A : undefined;
}

/** Indices, in row-major order of the shape: row-major over the reduced axes. */
export interface Found<A extends Elements, I extends IndexType, V extends boolean> {
    indices: Arrays[I];
    /** The elements there, if they were asked for. */
    values: V extends true ? A : undefined;
    shape: number[];
}

/** An array in the module's memory: calls read it where it is. */
export interface Allocation<T extends ElementType> {
    /** A new view. One from before the memory grew has length 0, and calls throw a TypeError for it. */
    readonly array: Arrays[T];
    readonly shape: readonly number[];
    readonly type: T;
    /** Gives the memory back; there is no array then. */
    free(): void;
}

/** What a module offers. */
export interface Argreduce {
    /**
     * Where the smallest elements are.
     *
     * @throws TypeError for a type that is not allowed, RangeError for a value that is not; both name it.
     */
    argmin<A extends Elements, I extends IndexType = "u32", V extends boolean = false>(
        array: A,
        shape: readonly number[],
        options?: Options<I, V, Out<A, I, V>>,
    ): Found<A, I, V>;
    /** Where the largest are; as `argmin`. */
    argmax<A extends Elements, I extends IndexType = "u32", V extends boolean = false>(
        array: A,
        shape: readonly number[],
        options?: Options<I, V, Out<A, I, V>>,
    ): Found<A, I, V>;
    /** Both: the elements are read once. As `argmin`. */
    argminmax<A extends Elements, I extends IndexType = "u32", V extends boolean = false>(
        array: A,
        shape: readonly number[],
        options?: Options<I, V, { min: Out<A, I, V>; max: Out<A, I, V> }>,
    ): { min: Found<A, I, V>; max: Found<A, I, V> };
    /** An array of zeros in the module's memory. @throws As `argmin`, and RangeError where there is no memory left. */
    alloc<T extends ElementType>(shape: readonly number[], type: T): Allocation<T>;
}

/**
 * The functions, by the bytes of a module, a compiled one, or a promise of either: for pages that have them elsewhere.
 *
 * @throws WebAssembly.CompileError where the engine has no vectors (simd128), or these are no such bytes.
 */
export function load(
    source: BufferSource | WebAssembly.Module | Promise<BufferSource | WebAssembly.Module>,
): Promise<Argreduce>;
