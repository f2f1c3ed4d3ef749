// What the types say, for `tsc --strict`: nothing of this runs.
import { alloc, argmax, argminmax, type Allocation } from "argreduce";
import { load } from "argreduce/core";

const scores: Allocation<"f32"> = alloc([2, 3], "f32");
const view: Float32Array = scores.array;
const classes: Uint32Array = argmax(view, scores.shape, { axis: 1 }).indices;
const small: Uint8Array = argmax(view, [6], { indexType: "u8" }).indices;
const none: undefined = argmax(view, [6]).values;
const best: BigInt64Array = argmax(new BigInt64Array(2), [2], { values: true, indexType: "i64" }).values;
const { min, max } = argminmax(new Uint8ClampedArray(4), [2, 2], { axis: [-1], keepDims: true, nan: "ignore" });
const shape: number[] = min.shape.concat(max.shape);
const again: Uint8Array = argmax(view, [6], { indexType: "u8", out: { indices: small } }).indices;
argminmax(view, [6], { out: argminmax(view, [6]) });
argmax(view, [6], { values: true, out: { indices: classes, values: view } });
const other = load(new Uint8Array(8)).then(({ argmin }) => argmin(new Int8Array(1), []).indices.length);

// @ts-expect-error: no array of elements.
argmax([1, 2], [2]);
// @ts-expect-error: an option that is not there.
argmax(view, [6], { axes: 1 });
// @ts-expect-error: no type of indices.
argmax(view, [6], { indexType: "f32" });
// @ts-expect-error: another type of indices.
argmax(view, [6], { indexType: "u8", out: { indices: classes } });
// @ts-expect-error: the type of the memory.
const wrong: Float64Array = scores.array;

export { again, best, classes, none, other, shape, small, wrong };
