// The functions of the package, by a module of WebAssembly that the caller has: `load(bytes)`. `index.js` finds the one that comes
// with the package. There is nothing here of pages, files and node.

/** The types of elements and of indices: their names, in the order of `TYPES` in `src/lib.rs`, and their arrays. */
const TYPES = [
    ["f32", "Float32Array"],
    ["f64", "Float64Array"],
    ["i8", "Int8Array"],
    ["u8", "Uint8Array"],
    ["i16", "Int16Array"],
    ["u16", "Uint16Array"],
    ["i32", "Int32Array"],
    ["u32", "Uint32Array"],
    ["i64", "BigInt64Array"],
    ["u64", "BigUint64Array"],
    ["f16", "Float16Array"],
];
const INDEX_TYPES = ["u8", "u16", "i32", "u32", "i64", "u64"];
const FUNCTIONS = ["argmin", "argmax", "argminmax"];
const NO_OPTIONS = Object.freeze({});
const NOWHERE = Object.freeze([0, 0, 0, 0]);
const OPTIONS = ["axis", "keepDims", "selectLast", "nan", "indexType", "where", "values", "fill", "out", "isa"];
const KNOWN_OPTIONS = new Set(OPTIONS);

/** The words of a `Call` of `src/lib.rs`. */
const MOST_AXES = 9;
const CALL = {};
let words = 0;
for (const [name, count] of [
    ["function", 1],
    ["dataType", 1],
    ["indexType", 1],
    ["selectsLast", 1],
    ["ignoresNan", 1],
    ["hasFill", 1],
    ["fill", 1],
    ["isa", 1],
    ["rank", 1],
    ["sizes", MOST_AXES],
    ["axisCount", 1],
    ["axes", MOST_AXES],
    ["hasValues", 1],
    ["input", 1],
    ["inputBytes", 1],
    ["mask", 1],
    ["maskBytes", 1],
    ["indices", 2],
    ["values", 2],
    ["outputs", 1],
    ["error", 1],
    ["errorBytes", 1],
]) {
    CALL[name] = words;
    words += count;
}

const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;

const BY_TAG = new Map(TYPES.map(([, name], number) => [name, number]));
BY_TAG.set("Uint8ClampedArray", BY_TAG.get("Uint8Array"));
const BY_NAME = new Map(TYPES.map(([name], number) => [name, number]));

/** The place of an array's type in `TYPES`, or -1. Of arrays from other windows, too. */
function typeOf(array) {
    return (ArrayBuffer.isView(array) ? BY_TAG.get(tagOf.call(array)) : undefined) ?? -1;
}

/** What an error calls a value. */
function shown(value) {
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value === "bigint") return `${value}n`;
    if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
    if (typeof value === "object" && value !== null) return `a value of type ${value.constructor?.name ?? "object"}`;
    return typeof value === "function" || typeof value === "symbol" ? `a ${typeof value}` : String(value);
}

function oneOf(name, value, allowed) {
    if (!allowed.includes(value)) throw new TypeError(`${name} is ${shown(value)}: choose from ${allowed.map(shown).join(", ")}`);
    return value;
}

function integer(name, value, least, most) {
    if (typeof value !== "number") throw new TypeError(`${name} is ${shown(value)}: it has to be a number`);
    if (!Number.isInteger(value) || value < least || value > most) {
        throw new RangeError(`${name} is ${shown(value)}: it has to be an integer from ${least} to ${most}`);
    }
    return value;
}

/** A whole that is the number of elements of an array. */
function checkedShape(shape) {
    if (!Array.isArray(shape)) throw new TypeError(`shape is ${shown(shape)}: it has to be an array of sizes`);
    if (shape.length >= MOST_AXES) throw new RangeError(`shape has ${shape.length} sizes: at most ${MOST_AXES - 1} are allowed`);
    let product = 1;
    for (let axis = 0; axis < shape.length; axis++) {
        const size = shape[axis];
        if (!(Number.isInteger(size) && size >= 0 && size < 2 ** 31)) integer(`size ${axis} of shape`, size, 0, 2 ** 31 - 1);
        product *= size;
    }
    return product;
}

/** A view that was made before its memory grew has no length and no buffer. */
function checkAttached(name, array) {
    if (array.length > 0) return;
    try {
        new Uint8Array(array.buffer);
    } catch {
        throw new TypeError(
            `${name} is a view of memory that has grown, or was given away, since it was made: read .array again for a new one`,
        );
    }
}

function checkOptions(options) {
    if (options === NO_OPTIONS) return;
    if (typeof options !== "object" || options === null) throw new TypeError(`options are ${shown(options)}: they have to be an object`);
    for (const name of Object.keys(options)) if (!KNOWN_OPTIONS.has(name)) oneOf("an option", name, OPTIONS);
}

function checkBoolean(name, value) {
    if (typeof value !== "boolean") throw new TypeError(`${name} is ${shown(value)}: it has to be true or false`);
}

const ALL_AXES = Array.from({ length: MOST_AXES }, (_, rank) => Array.from({ length: rank }, (_, axis) => axis));

/** The axes that are reduced, as they were given; none said is all of them. */
function checkedAxes(axis, rank) {
    if (axis === undefined) return ALL_AXES[rank];
    const axes = Array.isArray(axis) ? axis : [axis];
    axes.forEach((one) => {
        if (typeof one !== "number") throw new TypeError(`axis is ${shown(axis)}: it has to be a number, or an array of them`);
        if (!Number.isInteger(one) || one < -rank || one >= rank) {
            const allowed = rank === 0 ? "a tensor of rank 0 has none" : `rank ${rank} allows ${-rank} to ${rank - 1}`;
            throw new RangeError(`axis ${one} is out of range: ${allowed}`);
        }
    });
    if (axes.length > rank) throw new RangeError(`axis has ${axes.length} numbers: rank ${rank} allows each of its axes once`);
    return axes;
}

/** A module, and the one call that it has in its memory: calls come one after another. */
class Module {
    exports;
    #call;
    #words = new Uint32Array(0);
    #buffer;
    /** All of memory, as arrays of each type. */
    #views = new Map();
    /** What is in memory for as long as a call takes: places and bytes, so many. */
    #blocks = new Uint32Array(2 * 8);
    #used = 0;

    constructor(exports) {
        this.exports = exports;
        this.#call = exports.argreduce_alloc(4 * words) >>> 0;
        if (this.#call === 0) throw new RangeError("there is no memory for a call");
    }

    /** All of memory, also after it grew. */
    get buffer() {
        // Views have no length then. (To ask the memory itself takes several times as long.)
        if (this.#words.length === 0) this.#renew();
        return this.#buffer;
    }

    /** The words of the call, also after memory grew. */
    get words() {
        if (this.#words.length === 0) this.#renew();
        return this.#words;
    }

    #renew() {
        this.#buffer = this.exports.memory.buffer;
        this.#words = new Uint32Array(this.#buffer, this.#call, words);
        this.#views.clear();
    }

    /** All of memory as an array of a type: that `words` were read since memory grew is up to the caller. */
    view(type) {
        let view = this.#views.get(type);
        if (view === undefined) this.#views.set(type, (view = new type(this.buffer, 0, Math.floor(this.buffer.byteLength / type.BYTES_PER_ELEMENT))));
        return view;
    }

    run() {
        this.exports.argreduce_run(this.#call);
    }

    /** A place for so many bytes, until the call ends. */
    take(bytes, what) {
        const place = this.alloc(bytes, what);
        this.keep(place, bytes);
        return place;
    }

    /** A place that a call took, until it ends. */
    keep(place, bytes) {
        this.#blocks[this.#used++] = place;
        this.#blocks[this.#used++] = bytes;
    }

    free() {
        for (let n = 0; n < this.#used; n += 2) this.exports.argreduce_free(this.#blocks[n], this.#blocks[n + 1]);
        this.#used = 0;
    }

    alloc(bytes, what) {
        // The module has 32-bit addresses.
        const place = bytes < 2 ** 31 ? this.exports.argreduce_alloc(bytes) >>> 0 : 0;
        if (place === 0) throw new RangeError(`there is no memory for ${bytes} bytes of ${what}`);
        return place;
    }
}

/** An array in the module's memory. */
class Allocation {
    #module;
    #place;
    #type;
    #length;
    #view;
    shape;
    type;

    constructor(module, shape, type) {
        const length = checkedShape(shape);
        this.#type = arrayOf(BY_NAME.get(oneOf("type", type, [...BY_NAME.keys()])));
        this.#module = module;
        this.#length = length;
        this.shape = Object.freeze([...shape]);
        this.type = type;
        const bytes = length * this.#type.BYTES_PER_ELEMENT;
        this.#place = module.alloc(bytes, `shape [${shape.join(", ")}]`);
        new Uint8Array(module.buffer, this.#place, bytes).fill(0);
    }

    get array() {
        if (this.#place === 0) throw new TypeError("the array was freed");
        // A new one only where memory has grown: to make one takes a tenth of a small call.
        if (this.#view?.buffer !== this.#module.buffer) this.#view = new this.#type(this.#module.buffer, this.#place, this.#length);
        return this.#view;
    }

    free() {
        if (this.#place !== 0) this.#module.exports.argreduce_free(this.#place, this.#length * this.#type.BYTES_PER_ELEMENT);
        this.#place = 0;
    }
}

/** The arrays of `TYPES`, as far as the engine has them: looked up once, which takes longer than a small call. */
const ARRAYS = TYPES.map(([, name]) => globalThis[name]);

function arrayOf(number) {
    if (ARRAYS[number] === undefined) throw new TypeError(`this engine has no ${TYPES[number][1]}`);
    return ARRAYS[number];
}

/** Where an array is in the module's memory, or null: asked before that grows, when its views become views of nothing. */
function placeOf(module, array) {
    return array.buffer === module.buffer ? array.byteOffset : null;
}

/** Where a copy of an array is. */
function copied(module, array, what) {
    const bytes = array.byteLength;
    const place = module.take(bytes, what);
    new Uint8Array(module.buffer, place, bytes).set(new Uint8Array(array.buffer, array.byteOffset, bytes));
    return place;
}

/** A copy of what a call found, in an array of the caller's if there is one; the place is given back when the call ends. */
function taken(module, place, type, length, out) {
    module.keep(place, length * type.BYTES_PER_ELEMENT);
    const first = place / type.BYTES_PER_ELEMENT;
    const view = module.view(type);
    if (out === undefined) return view.slice(first, first + length);
    if (length > 1) out.set(view.subarray(first, first + length));
    else if (length === 1) out[0] = view[first];
    return out;
}

/** What a call wrote to an array of the caller's. Where memory grew since, the array has become a view of nothing. */
function written(module, place, type, length, out) {
    return out.buffer === module.buffer ? out : new type(module.buffer, place, length);
}

/**
 * Of some arrays, of which the first two are read and all others written, or of none: where the call may write each of the others,
 * which is in the module's memory and apart from all others; or 0.
 */
function placesToWrite(buffer, arrays) {
    const places = [];
    for (let n = 2; n < arrays.length; n++) {
        const array = arrays[n];
        let isPlace = array !== undefined && array.buffer === buffer;
        for (let other = 0; isPlace && other < arrays.length; other++) {
            if (other !== n && overlap(array, arrays[other])) isPlace = false;
        }
        places.push(isPlace ? array.byteOffset : 0);
    }
    return places;
}

/** Whether an array has bytes of another one, if there is one. */
function overlap(array, other) {
    if (other === undefined || other.buffer !== array.buffer) return false;
    return array.byteOffset < other.byteOffset + other.byteLength && other.byteOffset < array.byteOffset + array.byteLength;
}

/** An array that is written to: one of a type, attached, and as long as there are outputs. */
function checkOut(what, array, type, outputs) {
    if (typeOf(array) < 0 || tagOf.call(array) !== type.name) {
        throw new TypeError(`${what} is ${shown(array)}: it has to be a ${type.name}`);
    }
    checkAttached(what, array);
    if (array.length !== outputs) throw new RangeError(`${what} has ${array.length} elements, and there are ${outputs} outputs`);
}

/** The arrays that an answer is written to. */
function checkedOut(what, out, indexArray, valueArray, outputs) {
    if (typeof out !== "object" || out === null) throw new TypeError(`${what} is ${shown(out)}: it has to be an object, as an answer is`);
    checkOut(`${what}.indices`, out.indices, indexArray, outputs);
    if (valueArray !== undefined) checkOut(`${what}.values`, out.values, valueArray, outputs);
    else if (out.values !== undefined) throw new TypeError(`${what}.values is there, and values are not asked for`);
    return out;
}

/** How many outputs there are. */
function outputCount(shape, axes) {
    let count = 1;
    for (let axis = 0; axis < shape.length; axis++) {
        if (!axes.includes(axis) && !axes.includes(axis - shape.length)) count *= shape[axis];
    }
    return count;
}

/** The sizes of the outputs. */
function outputShape(shape, axes, keepDims) {
    if (axes === ALL_AXES[shape.length] && !keepDims) return [];
    const isReduced = (_, axis) => axes.includes(axis) || axes.includes(axis - shape.length);
    return keepDims ? shape.map((size, axis) => (isReduced(size, axis) ? 1 : size)) : shape.filter((size, axis) => !isReduced(size, axis));
}

function reduce(module, name, array, shape, options = NO_OPTIONS) {
    checkOptions(options);
    const dataType = typeOf(array);
    if (dataType < 0) {
        const names = TYPES.map(([, name]) => name).join(", ");
        throw new TypeError(`array is ${shown(array)}: choose from ${names}, Uint8ClampedArray`);
    }
    const { axis, keepDims = false, selectLast = false, nan = "propagate", indexType = "u32", where, values = false, fill, out, isa } = options;
    checkBoolean("keepDims", keepDims);
    checkBoolean("selectLast", selectLast);
    checkBoolean("values", values);
    checkAttached("array", array);
    const length = checkedShape(shape);
    if (length !== array.length) {
        throw new RangeError(`array has ${array.length} elements, and shape [${shape.join(", ")}] has ${length}`);
    }
    const axes = checkedAxes(axis, shape.length);
    oneOf("nan", nan, ["propagate", "ignore"]);
    oneOf("indexType", indexType, INDEX_TYPES);
    if (isa !== undefined) oneOf("isa", isa, ["portable"]);
    if (fill !== undefined) integer("fill", fill, -(2 ** 31), 2 ** 31 - 1);
    if (where !== undefined) {
        if (typeOf(where) !== 3) throw new TypeError(`where is ${shown(where)}: it has to be a Uint8Array, in which 0 is not there`);
        checkAttached("where", where);
        if (where.length !== length) throw new RangeError(`where has ${where.length} elements, and array has ${length}`);
    }
    const indexArray = arrayOf(BY_NAME.get(indexType));
    // (Not the array's own constructor: node's buffers are not copied by `slice`.)
    const valueArray = !values ? undefined : tagOf.call(array) === "Uint8ClampedArray" ? Uint8ClampedArray : arrayOf(dataType);
    let [first, second] = [undefined, undefined];
    if (out !== undefined) {
        const outputs = outputCount(shape, axes);
        if (name !== "argminmax") {
            first = checkedOut("out", out, indexArray, valueArray, outputs);
        } else {
            if (typeof out !== "object" || out === null) throw new TypeError(`out is ${shown(out)}: it has to be an object, as an answer is`);
            first = checkedOut("out.min", out.min, indexArray, valueArray, outputs);
            second = checkedOut("out.max", out.max, indexArray, valueArray, outputs);
        }
    }

    const bytes = array.byteLength;
    let [input, mask] = [placeOf(module, array), where === undefined ? 0 : placeOf(module, where)];
    // Indices and values of each answer. A call that may find nothing there writes nothing to them where it throws.
    const isWritten = out !== undefined && (where === undefined || fill !== undefined);
    const places = isWritten ? placesToWrite(module.buffer, [array, where, first.indices, first.values, second?.indices, second?.values]) : NOWHERE;
    try {
        input ??= copied(module, array, "array");
        mask ??= copied(module, where, "where");
        let call = module.words;
        call[CALL.function] = FUNCTIONS.indexOf(name);
        call[CALL.dataType] = dataType;
        call[CALL.indexType] = BY_NAME.get(indexType);
        call[CALL.selectsLast] = selectLast;
        call[CALL.ignoresNan] = nan === "ignore";
        call[CALL.hasValues] = values;
        call[CALL.hasFill] = fill !== undefined;
        call[CALL.fill] = fill ?? 0;
        call[CALL.isa] = isa === "portable";
        call[CALL.input] = input;
        call[CALL.inputBytes] = bytes;
        call[CALL.mask] = mask;
        call[CALL.maskBytes] = length;
        call[CALL.rank] = shape.length;
        for (let n = 0; n < shape.length; n++) call[CALL.sizes + n] = shape[n];
        call[CALL.axisCount] = axes.length;
        for (let n = 0; n < axes.length; n++) call[CALL.axes + n] = axes[n];
        for (let n = 0; n < 2; n++) {
            call[CALL.indices + n] = places[2 * n];
            call[CALL.values + n] = places[2 * n + 1];
        }
        call[CALL.error] = call[CALL.errorBytes] = 0;
        module.run();

        // Memory may have grown.
        call = module.words;
        if (call[CALL.errorBytes] > 0) throw new RangeError(errorOf(module));
        const outputs = call[CALL.outputs];
        const answer = (place, at, type, into) => (place === 0 ? taken : written)(module, call[at], type, outputs, into);
        const found = (n, into) => ({
            indices: answer(places[2 * n], CALL.indices + n, indexArray, into?.indices),
            values: values ? answer(places[2 * n + 1], CALL.values + n, valueArray, into?.values) : undefined,
            shape: outputShape(shape, axes, keepDims),
        });
        return name === "argminmax" ? { min: found(0, first), max: found(1, second) } : found(0, first);
    } finally {
        module.free();
    }
}

/** What a call says is wrong. */
function errorOf(module) {
    const [place, bytes] = [module.words[CALL.error], module.words[CALL.errorBytes]];
    if (place === 0) return "there is no memory for the text of an error";
    module.keep(place, bytes);
    return new TextDecoder().decode(new Uint8Array(module.buffer, place, bytes).slice());
}

/** The functions, by the bytes of a module, a compiled one, or a promise of either. */
export async function load(source) {
    const given = await source;
    const compiled = given instanceof WebAssembly.Module ? given : await WebAssembly.compile(given);
    const own = new Module((await WebAssembly.instantiate(compiled, {})).exports);
    return Object.freeze({
        argmin: (array, shape, options) => reduce(own, "argmin", array, shape, options),
        argmax: (array, shape, options) => reduce(own, "argmax", array, shape, options),
        argminmax: (array, shape, options) => reduce(own, "argminmax", array, shape, options),
        alloc: (shape, type) => new Allocation(own, shape, type),
    });
}
