// A label map of class scores, in a page: three lines of this (marked) are the package; the rest is the page.
import { load } from "../../integrations/web/core.js"; // (1)

// In a page of one file, its bytes are written out.
const source = globalThis.moduleBytes ?? fetch("../../integrations/web/argreduce.wasm").then((response) => response.arrayBuffer());
const { argmax, alloc } = await load(source); // (2)

const element = (id) => document.getElementById(id);
const TYPES = { "<f2": "f16", "<f4": "f32", "<f8": "f64", "|i1": "i8", "|u1": "u8", "|b1": "u8", "<i2": "i16", "<u2": "u16", "<i4": "i32", "<u4": "u32", "<i8": "i64", "<u8": "u64" };

/** What is shown: elements, their shape, and where they are from. */
let scores = null;
let allocated = null;

/** The array of a file of NumPy. */
function parse(bytes) {
    const view = new DataView(bytes);
    if (bytes.byteLength < 12 || view.getUint32(0) !== 0x934e554d) throw new Error("it is no .npy file");
    const isLong = view.getUint8(6) > 1;
    const [length, start] = isLong ? [view.getUint32(8, true), 12] : [view.getUint16(8, true), 10];
    const header = new TextDecoder("latin1").decode(bytes.slice(start, start + length));
    const field = (name, pattern) => header.match(new RegExp(`'${name}': *${pattern}`))?.[1];
    const [descr, fortran, shape] = [field("descr", "'([^']*)'"), field("fortran_order", "(True|False)"), field("shape", "\\(([^)]*)\\)")];
    const type = TYPES[descr];
    if (type === undefined) throw new Error(`its elements are ${descr}: choose from ${Object.keys(TYPES).join(", ")}`);
    if (fortran !== "False") throw new Error("it is in Fortran order, which this page does not read");
    const sizes = shape.split(",").filter((size) => size.trim() !== "").map(Number);
    return { type, shape: sizes, bytes: new Uint8Array(bytes, start + length) };
}

/** The program's own sample, bit for bit: every operation is rounded as single precision is. */
function sample() {
    const [classes, height, width] = [21, 256, 256];
    const f = Math.fround;
    let state = 2n;
    const between = (low, high) => {
        state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
        const range = f(f(high) - f(low));
        return f(f(low) + f(f(range * f(Number(state >> 40n))) / f(1 << 24)));
    };
    const array = new Float32Array(classes * height * width).fill(0.4, 0, height * width);
    let n = height * width;
    for (let c = 1; c < classes; c++) {
        const place = [between(0.05, 0.95), between(0.05, 0.95)];
        const blobs = Array.from({ length: 4 }, () => ({
            centre: place.map((coordinate) => f(coordinate + between(-0.08, 0.08))),
            narrowness: [0, 0].map(() => f(1 / between(0.03, 0.1))),
            slant: between(-0.8, 0.8),
        }));
        for (let y = 0; y < height; y++) {
            for (let x = 0; x < width; x++, n++) {
                const at = [f(x / width), f(y / height)];
                let sum = 0;
                for (const { centre, narrowness, slant } of blobs) {
                    const [dx, dy] = [f(at[0] - centre[0]), f(at[1] - centre[1])];
                    const [u, v] = [f(f(dx + f(slant * dy)) * narrowness[0]), f(dy * narrowness[1])];
                    const distance = f(f(u * u) + f(v * v));
                    sum = f(sum + f(1 / f(1 + f(distance * distance))));
                }
                array[n] = sum;
            }
        }
    }
    return { type: "f32", shape: [classes, height, width], bytes: new Uint8Array(array.buffer) };
}

/** Puts the elements into the module's memory, as a type: scaled where that has fewer numbers. */
function place(type) {
    allocated?.free();
    allocated = alloc(scores.shape, scores.type);
    const own = allocated.array;
    new Uint8Array(own.buffer, own.byteOffset, own.byteLength).set(scores.bytes.subarray(0, own.byteLength));
    if (type === "own" || type === scores.type) return;
    const from = Array.from(own, Number);
    let scale = (value) => value;
    if (type === "u8" || type === "i16") {
        const finite = from.filter(Number.isFinite);
        const low = finite.reduce((a, b) => Math.min(a, b), Infinity);
        const high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
        const [least, most] = type === "u8" ? [0, 255] : [-32768, 32767];
        scale = (value) => Math.round(least + ((value - low) / (high - low || 1)) * (most - least));
    }
    allocated.free();
    allocated = alloc(scores.shape, type);
    allocated.array.set(from.map(scale));
}

/** The same by a loop, as one would write it. */
function byLoop(array, shape, axis) {
    const size = (sizes) => sizes.reduce((product, one) => product * one, 1);
    const [outer, length, inner] = [size(shape.slice(0, axis)), shape[axis], size(shape.slice(axis + 1))];
    const indices = new Uint32Array(outer * inner);
    const best = array.slice(0, inner);
    for (let o = 0; o < outer; o++) {
        best.set(array.subarray(o * length * inner, (o * length + 1) * inner));
        for (let n = 1; n < length; n++) {
            for (let i = 0; i < inner; i++) {
                const value = array[(o * length + n) * inner + i];
                if (value > best[i]) {
                    best[i] = value;
                    indices[o * inner + i] = n;
                }
            }
        }
    }
    return indices;
}

/** The milliseconds of the fastest of some calls. Clocks of browsers are coarse: so many calls at a time as take a while. */
function fastest(call) {
    let [least, calls] = [Infinity, 1];
    const end = performance.now() + 300;
    while (performance.now() < end) {
        const started = performance.now();
        for (let n = 0; n < calls; n++) call();
        const time = performance.now() - started;
        if (time < 5) calls *= 2;
        else least = Math.min(least, time / calls);
    }
    return least;
}

/** The colour map of PASCAL VOC. */
function colour(label) {
    const channels = [0, 0, 0];
    for (let bit = 0; bit < 8; bit++) {
        for (let channel = 0; channel < 3; channel++) channels[channel] |= ((label >> (3 * bit + channel)) & 1) << (7 - bit);
    }
    return channels;
}

function paint(indices, shape) {
    // What has more than two axes is one picture below the other.
    const width = shape.length === 0 ? 1 : shape[shape.length - 1];
    const height = indices.length / width;
    const canvas = element("map");
    [canvas.width, canvas.height] = [width, height];
    const image = new ImageData(width, height);
    indices.forEach((label, n) => image.data.set([...colour(label), 255], 4 * n));
    canvas.getContext("2d").putImageData(image, 0, 0);
    const labels = new Set(indices).size;
    canvas.setAttribute("aria-label", `Label map of ${width} by ${height} pixels, in which ${labels} classes are the best somewhere`);
}

function show() {
    document.body.dataset.state = "busy";
    try {
        const axis = Number(element("axis").value);
        place(element("type").value);
        const { indices, shape } = argmax(allocated.array, allocated.shape, { axis }); // (3)
        if (indices.length === 0 || indices.length > 1 << 24) throw new Error(`${indices.length} outputs are no picture`);
        paint(indices, shape);
        const ours = fastest(() => argmax(allocated.array, allocated.shape, { axis }));
        const loop = fastest(() => byLoop(allocated.array, allocated.shape, axis));
        for (const [name, time] of [["ours", ours], ["loop", loop]]) {
            element(`bar-${name}`).style.width = `${(100 * time) / Math.max(ours, loop)}%`;
            element(`time-${name}`).textContent = `${time.toFixed(2)} ms`;
        }
        element("status").textContent =
            `${scores.name}: ${allocated.type} [${allocated.shape.join(", ")}], the largest along axis ${axis}: ` +
            `${(loop / ours).toFixed(1)} times as fast as a loop in JavaScript.`;
        document.body.dataset.state = "done";
    } catch (error) {
        element("status").textContent = `${scores.name}: ${error.message}`;
        document.body.dataset.state = "failed";
    }
}

function take(name, read) {
    try {
        scores = { name, ...read() };
        const needed = scores.shape.reduce((product, size) => product * size, 1);
        if (scores.shape.length === 0) throw new Error("it has no axes");
        if (scores.bytes.length < needed) throw new Error("it ends before its last element");
    } catch (error) {
        element("status").textContent = `${name}: ${error.message}`;
        document.body.dataset.state = "failed";
        return;
    }
    element("axis").replaceChildren(...scores.shape.map((size, axis) => new Option(`${axis} (of ${size})`, axis)));
    show();
}

async function open(file) {
    const bytes = await file.arrayBuffer();
    take(file.name, () => parse(bytes));
}

element("file").addEventListener("change", (event) => event.target.files[0] && open(event.target.files[0]));
for (const name of ["axis", "type"]) element(name).addEventListener("change", show);
const main = document.querySelector("main");
addEventListener("dragover", (event) => {
    event.preventDefault();
    main.classList.add("dropping");
});
addEventListener("dragleave", () => main.classList.remove("dropping"));
addEventListener("drop", (event) => {
    event.preventDefault();
    main.classList.remove("dropping");
    if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
});
take("The program's sample", sample);
