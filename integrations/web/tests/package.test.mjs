// The package as a program sees it: answers beside plain loops, errors, memory. Run by ci/web, which makes the module.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { alloc, argmax, argmin, argminmax } from "../index.js";
import { load } from "../core.js";

const ARRAYS = {
    f32: Float32Array,
    f64: Float64Array,
    i8: Int8Array,
    u8: Uint8Array,
    i16: Int16Array,
    u16: Uint16Array,
    i32: Int32Array,
    u32: Uint32Array,
    i64: BigInt64Array,
    u64: BigUint64Array,
};
const INDICES = { u8: Uint8Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array, i64: BigInt64Array, u64: BigUint64Array };

let state = 1;
function random(end) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
}

/** By the rules as they are written: class, value, index. */
function byLoops(array, shape, { axis, selectLast = false, nan = "propagate", where, fill }, isMax) {
    const axes = (axis === undefined ? shape.map((_, n) => n) : [axis].flat()).map((one) => (one < 0 ? one + shape.length : one));
    const kept = shape.map((size, n) => (axes.includes(n) ? 1 : size));
    const count = kept.reduce((product, size) => product * size, 1);
    const best = Array(count).fill(null);
    const isNaN = (value) => value !== value;
    const better = (a, b) => {
        if (isNaN(a) || isNaN(b)) return isNaN(a) === isNaN(b) ? null : isNaN(a) === (nan === "propagate");
        return a == b ? null : isMax ? a > b : a < b;
    };
    array.forEach((value, n) => {
        let [output, index, left, outputStep, step] = [0, 0, n, 1, 1];
        for (let a = shape.length - 1; a >= 0; a--) {
            const at = left % shape[a];
            left = Math.floor(left / shape[a]);
            output += axes.includes(a) ? 0 : at * outputStep;
            outputStep *= kept[a];
            if (axes.includes(a)) {
                index += at * step;
                step *= shape[a];
            }
        }
        if (where !== undefined && where[n] === 0) return;
        const found = best[output];
        const isBetter = found === null ? true : better(value, found.value);
        if (isBetter === true || (isBetter === null && selectLast)) best[output] = { value, index };
    });
    return best.map((found) => found ?? { value: 0, index: fill });
}

function elements(Type, length) {
    const isBig = Type === BigInt64Array || Type === BigUint64Array;
    const special = Type === Float32Array || Type === Float64Array ? [NaN, Infinity, -Infinity, -0, 0, 1e-40] : [];
    const kind = random(3);
    const one = () => {
        if (special.length > 0 && random(8) === 0 && kind > 0) return special[random(special.length)];
        const value = kind === 1 ? random(4) : random(2 ** 31);
        return isBig ? BigInt(value) : value;
    };
    return Type.from({ length }, one);
}

test("every type, function and option, as plain loops have it", () => {
    let cases = 0;
    for (const [type, Type] of [...Object.entries(ARRAYS), ["u8", Uint8ClampedArray]]) {
        for (let n = 0; n < 60; n++) {
            const rank = 1 + random(3);
            const shape = Array.from({ length: rank }, () => 1 + random(rank === 1 ? 300 : 12));
            const length = shape.reduce((product, size) => product * size, 1);
            const axes = shape.map((_, axis) => axis).filter(() => random(2) === 0);
            const indexTypes = Object.keys(INDICES).filter((name) => name !== "u8" || length <= 256);
            const options = {
                axis: [undefined, axes, axes.map((axis) => axis - rank), random(rank)][random(4)],
                keepDims: random(2) === 0,
                selectLast: random(2) === 0,
                nan: ["propagate", "ignore"][random(2)],
                indexType: indexTypes[random(indexTypes.length)],
                values: random(2) === 0,
            };
            const array = elements(Type, length);
            if (random(3) === 0) {
                options.where = Uint8Array.from(array, () => random(3));
                options.fill = 7;
            }
            let given = array;
            let allocated;
            if (Type !== Uint8ClampedArray && random(2) === 0) {
                allocated = alloc(shape, type);
                allocated.array.set(array);
                given = allocated.array;
            }
            const both = argminmax(given, shape, options);
            for (const [isMax, found] of [
                [false, argmin(given, shape, options)],
                [true, argmax(given, shape, options)],
                [false, both.min],
                [true, both.max],
            ]) {
                const expected = byLoops(array, shape, options, isMax);
                assert.deepEqual([...found.indices].map(Number), expected.map(({ index }) => index), JSON.stringify({ type, shape, options }));
                assert.ok(found.indices instanceof INDICES[options.indexType]);
                assert.equal(found.values === undefined, !options.values);
                if (options.values) {
                    assert.ok(found.values instanceof Type);
                    const isSame = (value, at) => Number(value) === Number(expected[at].value) || (value !== value && expected[at].value !== expected[at].value);
                    assert.ok(found.values.every(isSame));
                }
                const axis = (options.axis === undefined ? shape.map((_, one) => one) : [options.axis].flat()).map((one) => (one + rank) % rank);
                const sizes = shape.map((size, one) => (axis.includes(one) ? 1 : size));
                assert.deepEqual(found.shape, options.keepDims ? sizes : sizes.filter((_, one) => !axis.includes(one)));
                cases++;
            }
            allocated?.free();
        }
    }
    assert.equal(cases, 11 * 60 * 4);
});

test("Float16Array, where the engine has it", (context) => {
    if (typeof globalThis.Float16Array !== "function") {
        assert.throws(() => alloc([4], "f16"), { name: "TypeError", message: "this engine has no Float16Array" });
        context.skip("this engine has none; ci/web tries it in Chromium");
        return;
    }
    assert.deepEqual([...argmax(new Float16Array([1, 5, 2, 7, NaN, 7]), [2, 3], { axis: 1 }).indices], [1, 1]);
});

test("empty tensors and rank 0", () => {
    assert.deepEqual(argmax(new Float32Array([3]), []).indices, new Uint32Array([0]));
    assert.deepEqual(argmax(new Float32Array(0), [0, 3], { axis: 1 }), { indices: new Uint32Array(0), values: undefined, shape: [0] });
    assert.throws(() => argmax(new Float32Array(0), [0, 3], { axis: 0 }), { name: "RangeError", message: /axis 0 .* empty|nothing|at least one/ });
});

const x = new Float32Array(6);
for (const [name, call, error] of [
    ["an array of numbers", () => argmax([1, 2], [2]), [TypeError, "array is [1, 2]: choose from Float32Array"]],
    ["nothing", () => argmax(undefined, [2]), [TypeError, "array is undefined"]],
    ["a view of anything", () => argmax(new DataView(new ArrayBuffer(8)), [8]), [TypeError, "array is a value of type DataView"]],
    ["no shape", () => argmax(x, undefined), [TypeError, "shape is undefined: it has to be an array of sizes"]],
    ["a size that is none", () => argmax(x, [2.5, 2]), [RangeError, "size 0 of shape is 2.5"]],
    ["a size that is text", () => argmax(x, [2, "3"]), [TypeError, 'size 1 of shape is "3"']],
    ["another length", () => argmax(x, [2, 4]), [RangeError, "array has 6 elements, and shape [2, 4] has 8"]],
    ["too many axes", () => argmax(x, [1, 1, 1, 1, 1, 1, 1, 1, 6]), [RangeError, "shape has 9 sizes: at most 8 are allowed"]],
    ["an axis too far", () => argmax(x, [2, 3], { axis: 2 }), [RangeError, "axis 2 is out of range: rank 2 allows -2 to 1"]],
    ["an axis twice", () => argmax(x, [2, 3], { axis: [0, -2] }), [RangeError, "axis -2 is given twice"]],
    ["an axis that is text", () => argmax(x, [2, 3], { axis: "0" }), [TypeError, 'axis is "0"']],
    ["an unknown option", () => argmax(x, [6], { axes: 0 }), [TypeError, 'an option is "axes": choose from "axis"']],
    ["options that are none", () => argmax(x, [6], 0), [TypeError, "options are 0"]],
    ["a policy", () => argmax(x, [6], { nan: "skip" }), [TypeError, 'nan is "skip": choose from "propagate", "ignore"']],
    ["keepDims", () => argmax(x, [6], { keepDims: 1 }), [TypeError, "keepDims is 1: it has to be true or false"]],
    ["an index type", () => argmax(x, [6], { indexType: "f32" }), [TypeError, 'indexType is "f32": choose from "u8"']],
    ["an index type too small", () => argmax(new Uint8Array(300), [300], { indexType: "u8" }), [RangeError, "u8"]],
    ["a mask of booleans", () => argmax(x, [6], { where: [true] }), [TypeError, "where is [true]: it has to be a Uint8Array"]],
    ["a mask too short", () => argmax(x, [6], { where: new Uint8Array(5) }), [RangeError, "where has 5 elements, and array has 6"]],
    ["nothing there", () => argmax(x, [6], { where: new Uint8Array(6) }), [RangeError, "there"]],
    ["a fill that is none", () => argmax(x, [6], { fill: 2 ** 40 }), [RangeError, "fill is 1099511627776"]],
    ["answers into nothing", () => argmax(x, [6], { out: 1 }), [TypeError, "out is 1: it has to be an object, as an answer is"]],
    ["answers into an array of numbers", () => argmax(x, [6], { out: { indices: [0] } }), [TypeError, "out.indices is [0]: it has to be a Uint32Array"]],
    ["answers into another type", () => argmax(x, [6], { out: { indices: new Int32Array(1) } }), [TypeError, "out.indices is a value of type Int32Array: it has to be a Uint32Array"]],
    ["answers into too few", () => argmax(x, [2, 3], { axis: 1, out: { indices: new Uint32Array(1) } }), [RangeError, "out.indices has 1 elements, and there are 2 outputs"]],
    ["values that were not asked for", () => argmax(x, [6], { out: { indices: new Uint32Array(1), values: new Float32Array(1) } }), [TypeError, "out.values is there"]],
    ["values into nothing", () => argmax(x, [6], { values: true, out: { indices: new Uint32Array(1) } }), [TypeError, "out.values is undefined: it has to be a Float32Array"]],
    ["both into one", () => argminmax(x, [6], { out: { indices: new Uint32Array(1) } }), [TypeError, "out.min is undefined"]],
    ["a type of memory", () => alloc([6], "f8"), [TypeError, 'type is "f8": choose from "f32"']],
    ["too much memory", () => alloc([2 ** 31 - 1, 8], "f64"), [RangeError, "there is no memory for"]],
]) {
    test(`an error names what is wrong: ${name}`, () => {
        assert.throws(call, (thrown) => {
            assert.equal(thrown.constructor, error[0], thrown.message);
            assert.ok(thrown.message.includes(error[1]), thrown.message);
            return true;
        });
    });
}

test("answers go into the caller's arrays, or where a call throws, nowhere", () => {
    const scores = Float32Array.of(1, 5, 2, 7, 0, 7);
    for (const values of [false, true]) {
        const first = argmax(scores, [2, 3], { axis: 1, values });
        const again = argmax(scores, [2, 3], { axis: 1, values, selectLast: true, out: first });
        assert.equal(again.indices, first.indices);
        assert.equal(again.values, first.values);
        assert.deepEqual([...first.indices], [1, 2]);
        if (values) assert.deepEqual([...first.values], [5, 7]);
        const both = argminmax(scores, [6], { values });
        const { min, max } = argminmax(scores.map((score) => -score), [6], { values, out: both });
        assert.deepEqual([min.indices, max.indices], [both.min.indices, both.max.indices]);
        assert.deepEqual([...both.min.indices, ...both.max.indices], [3, 4]);
    }
    // In the module's memory, too, also as the elements are.
    const place = alloc([2], "u32");
    argmax(scores, [2, 3], { axis: 1, out: { indices: place.array } });
    assert.deepEqual([...place.array], [1, 0]);
    assert.equal(argmax(place.array, [2], { out: { indices: place.array.subarray(1) } }).indices[0], 0);
    assert.deepEqual([...place.array], [1, 0]);
    for (const kept of [Uint32Array.of(7, 7), place.array.fill(7)]) {
        assert.throws(() => argmax(scores, [2, 3], { axis: 1, where: new Uint8Array(6), out: { indices: kept } }), RangeError);
        assert.deepEqual([...kept], [7, 7]);
    }
    // Under a mask that it is a part of; and both into one place, of which the largest remain.
    const mask = alloc([8], "u8");
    mask.array.set([1, 1, 0, 1, 1, 1], 2);
    const part = { indices: mask.array.subarray(2, 4) };
    assert.deepEqual([...argmax(scores, [2, 3], { axis: 1, where: mask.array.subarray(2), indexType: "u8", fill: 9, out: part }).indices], [1, 0]);
    const one = { indices: place.array };
    argminmax(scores, [2, 3], { axis: 1, out: { min: one, max: one } });
    assert.deepEqual([...place.array], [1, 0]);
    place.free();
    mask.free();
});

test("an answer in memory that grows within the call", async () => {
    const own = await load(await readFile(new URL("../argreduce.wasm", import.meta.url)));
    const [indices, values] = [own.alloc([2], "u32"), own.alloc([2], "f64")];
    const out = { indices: indices.array, values: values.array };
    const x = new Float64Array(1 << 20);
    [x[77], x[(1 << 19) + 5]] = [1, 2];
    const found = own.argmax(x, [2, 1 << 19], { axis: 1, values: true, out });
    assert.equal(out.indices.length, 0);
    assert.deepEqual([...found.indices, ...found.values], [77, 5, 1, 2]);
    assert.deepEqual([...indices.array, ...values.array], [77, 5, 1, 2]);
});

test("the plan of the call before is for calls like it alone", () => {
    const x = Float32Array.of(3, NaN, 1, 3);
    const options = [
        {}, { selectLast: true }, { nan: "ignore" }, { nan: "ignore", selectLast: true }, { axis: 0 }, { axis: 1 }, { axis: [] },
        { indexType: "u8" }, { keepDims: true }, { values: true }, { where: Uint8Array.of(0, 0, 0, 0), fill: 3 }, { where: Uint8Array.of(0, 0, 0, 0), fill: 5 },
    ];
    const asked = options.flatMap((one) => [[argmax, one], [argmin, one], [argminmax, one]]);
    const answers = asked.map(([reduce, one]) => reduce(x, [2, 2], one));
    // In another order, each after another.
    for (let n = 0; n < asked.length; n++) {
        const m = (n * 7) % asked.length;
        assert.deepEqual(asked[m][0](x, [2, 2], asked[m][1]), answers[m]);
    }
    assert.deepEqual([...argmax(x, [4], { nan: "ignore" }).indices], [0]);
    assert.deepEqual([...argmax(x.subarray(1), [3]).indices], [0]);
});

test("memory is where it is said to be, and is given back", async () => {
    // A module of its own, which starts small.
    const own = await load(await readFile(new URL("../argreduce.wasm", import.meta.url)));
    const scores = own.alloc([4, 3], "f32");
    const before = scores.array;
    assert.deepEqual([before.length, scores.shape, scores.type], [12, [4, 3], "f32"]);
    before[7] = 1;
    assert.deepEqual([...own.argmax(before, scores.shape, { axis: 1 }).indices], [0, 0, 1, 0]);
    assert.deepEqual([...own.argmax(before.subarray(3), [3, 3], { axis: 1 }).indices], [0, 1, 0]);

    const large = own.alloc([1 << 22], "f32");
    assert.equal(before.length, 0);
    assert.throws(() => own.argmax(before, [4, 3], { axis: 1 }), { name: "TypeError", message: /array is a view of memory that has grown.*\.array again/ });
    assert.throws(() => own.argmax(scores.array, [4, 3], { where: new Uint8Array(12) && before }), { name: "TypeError" });
    assert.deepEqual([...own.argmax(scores.array, [4, 3], { axis: 1 }).indices], [0, 0, 1, 0]);
    large.free();
    large.free();
    assert.throws(() => large.array, { name: "TypeError", message: "the array was freed" });

    // In which memory does not grow: what calls take, they give back; errors too.
    const bytes = scores.array.buffer.byteLength;
    const many = new Float64Array(1 << 16);
    for (let n = 0; n < 300; n++) {
        own.argminmax(many, [256, 256], { axis: 0, values: true, where: new Uint8Array(1 << 16).fill(1) });
        assert.throws(() => own.argmax(many, [1 << 16], { where: new Uint8Array(1 << 16) }), RangeError);
        own.alloc([1 << 16], "f64").free();
    }
    assert.equal(scores.array.buffer.byteLength, bytes);
});

test("a view whose memory grows within the call is copied whole", async () => {
    const own = await load(await readFile(new URL("../argreduce.wasm", import.meta.url)));
    const mask = own.alloc([1 << 20], "u8");
    mask.array.fill(1);
    const x = new Float64Array(1 << 20);
    x[77] = 1;
    // The copy of the elements makes memory grow; the mask stays where it is.
    assert.equal(own.argmax(x, [1 << 20], { where: mask.array }).indices[0], 77);
});

test("in a worker", async () => {
    const program = `
        import { parentPort } from "node:worker_threads";
        import { argmax } from ${JSON.stringify(new URL("../index.js", import.meta.url).href)};
        parentPort.postMessage(argmax(new Int16Array([1, 5, 2]), [3]).indices[0]);`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
    const found = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    assert.equal(found, 1);
    await worker.terminate();
});
