// How long argmax takes in node: beside a loop in JavaScript, loops of Rust, this crate without its vectors, and others' libraries.
// One process, by turns, the least time of many. `ci/web speed` builds the modules, and calls this with their folder:
// FOLDER [--write DOCUMENT].
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { load } from "./core.js";

const [folder, flag, path] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const raw = async (name) => (await WebAssembly.instantiate(readFileSync(`${folder}/${name}`), {})).instance.exports;
const simd = await load(readFileSync(`${folder}/simd.wasm`));
const plain = await load(readFileSync(`${folder}/plain.wasm`));
const loops = await raw("plain.wasm");

const CASES = [
    ["f32", [131072], 0],
    ["f32", [1048576], 0],
    ["f32", [1024, 1000], 1],
    ["f32", [21, 16384], 0],
    ["f32", [100000, 10], 1],
    ["u8", [131072], 0],
    ["u8", [4096], 0],
    ["i16", [4096], 0],
    ["f64", [4096], 0],
];
const ARRAYS = { f32: Float32Array, f64: Float64Array, u8: Uint8Array, i16: Int16Array };

/** As one would write it, the rows or the columns of a matrix; not in order of columns, which is slower. */
function loopsOfJavaScript(x, outputs, length, isOfColumns, indices) {
    if (!isOfColumns) {
        for (let o = 0; o < outputs; o++) {
            let [best, at] = [x[o * length], 0];
            for (let n = 1; n < length; n++) {
                const value = x[o * length + n];
                if (value > best) {
                    best = value;
                    at = n;
                }
            }
            indices[o] = at;
        }
        return indices;
    }
    const best = x.slice(0, outputs);
    indices.fill(0);
    for (let n = 1; n < length; n++) {
        for (let o = 0; o < outputs; o++) {
            const value = x[n * outputs + o];
            if (value > best[o]) {
                best[o] = value;
                indices[o] = n;
            }
        }
    }
    return indices;
}

/** Of each way, the microseconds of the fastest of many calls; all ways by turns. */
async function times(ways) {
    const least = ways.map(() => Infinity);
    const repeats = [];
    for (const [n, way] of ways.entries()) {
        // Until the engine has compiled it as well as it can, which it does beside the calls.
        for (let round = 0; round < 2; round++) {
            for (const end = performance.now() + 60; performance.now() < end; ) await way();
            await new Promise((resolve) => setTimeout(resolve, 60));
        }
        const started = performance.now();
        await way();
        await way();
        repeats[n] = Math.max(1, Math.ceil(4 / (performance.now() - started)));
    }
    for (let turn = 0; turn < 40; turn++) {
        for (const [n, way] of ways.entries()) {
            const isLate = way.constructor.name === "AsyncFunction";
            const started = performance.now();
            for (let i = 0; i < repeats[n]; i++) isLate ? await way() : way();
            least[n] = Math.min(least[n], ((performance.now() - started) / repeats[n]) * 1000);
        }
    }
    return least;
}

async function peers() {
    const found = {};
    try {
        const tf = require("@tensorflow/tfjs-core");
        const wasm = require("@tensorflow/tfjs-backend-wasm");
        wasm.setWasmPaths(`${folder}/node_modules/@tensorflow/tfjs-backend-wasm/dist/`);
        await tf.setBackend("wasm");
        await tf.ready();
        found.tfjs = (type, shape, axis, x) => {
            if (type !== "f32") return null;
            const tensor = tf.tensor(x, shape, "float32");
            tensor.dataSync();
            return [() => { const y = tf.argMax(tensor, axis); y.dispose(); }, () => tf.argMax(tensor, axis).dataSync()];
        };
    } catch (error) {
        console.error(`tfjs: not run: ${error.message}`);
    }
    try {
        const ort = require("onnxruntime-web/wasm");
        ort.env.wasm.numThreads = 1;
        ort.env.logLevel = "error";
        found.ort = async (type, shape, axis, x) => {
            const number = { f32: 1, u8: 2, f64: 11 }[type];
            if (number === undefined) return null;
            const session = await ort.InferenceSession.create(model(number, shape, axis), { executionProviders: ["wasm"] });
            const name = { f32: "float32", u8: "uint8", f64: "float64" }[type];
            const run = async () => session.run({ x: new ort.Tensor(name, x, shape) });
            return [run, async () => Array.from((await run()).y.data, Number)];
        };
    } catch (error) {
        console.error(`onnxruntime-web: not run: ${error.message}`);
    }
    return found;
}

/** An ONNX model of one ArgMax, written out: there is no package for that which is small. */
function model(type, shape, axis) {
    const varint = (n) => { const bytes = []; for (; n > 127; n = Math.floor(n / 128)) bytes.push((n & 127) | 128); return [...bytes, n]; };
    const number = (field, n) => [...varint(field * 8), ...varint(n)];
    const bytes = (field, content) => { const all = typeof content === "string" ? [...new TextEncoder().encode(content)] : content; return [...varint(field * 8 + 2), ...varint(all.length), ...all]; };
    const tensor = (name, type, sizes) => [...bytes(1, name), ...bytes(2, bytes(1, [...number(1, type), ...bytes(2, sizes.flatMap((size) => bytes(1, number(1, size))))]))];
    const attribute = (name, n) => bytes(5, [...bytes(1, name), ...number(3, n), ...number(20, 2)]);
    const node = [...bytes(1, "x"), ...bytes(2, "y"), ...bytes(4, "ArgMax"), ...attribute("axis", axis), ...attribute("keepdims", 0)];
    const graph = [...bytes(1, node), ...bytes(2, "g"), ...bytes(11, tensor("x", type, shape)), ...bytes(12, tensor("y", 7, shape.filter((_, n) => n !== axis)))];
    return new Uint8Array([...number(1, 8), ...bytes(7, graph), ...bytes(8, number(2, 13))]);
}

/** As a library has it: it has seen arrays of all types. */
const sharedLoops = new Function(`return ${loopsOfJavaScript}`)();
for (let n = 0; n < 20000; n++) {
    for (const Type of Object.values(ARRAYS)) sharedLoops(new Type(16), 4, 4, n % 2 === 0, new Uint32Array(4));
}

const libraries = await peers();
const rows = [];
for (const [type, shape, axis] of CASES) {
    const [isOfColumns, length] = [shape.length > 1 && axis === 0, shape[axis]];
    const outputs = shape.reduce((product, size) => product * size, 1) / length;
    const x = ARRAYS[type].from({ length: outputs * length }, () => (type === "u8" ? Math.random() * 250 : (Math.random() - 0.5) * 60000));
    if (type === "u8") x[x.length >> 1] = 251;
    const given = [simd, plain].map((module) => {
        const allocated = module.alloc(shape, type);
        allocated.array.set(x);
        return allocated;
    });
    // A function of its own for each case: of one type of arrays, an engine makes the best that it can.
    const byLoops = new Function(`return ${loopsOfJavaScript}`)();
    const expected = byLoops(x, outputs, length, isOfColumns, new Uint32Array(outputs));
    const check = (what, indices) => {
        if (indices.length !== outputs || !indices.every((index, n) => index === expected[n])) throw new Error(`${what} is wrong for ${type} [${shape}]`);
    };
    // Loops write to one array in all their calls. So do these calls, where there are many outputs: in the module's memory.
    const indices = new Uint32Array(outputs);
    const answers = [simd, plain].map((module) => module.alloc([outputs], "u32"));
    const [options, plainOptions] = answers.map((answer) => (outputs === 1 ? { axis } : { axis, out: { get indices() { return answer.array; } } }));
    // The same elements in the memory of the module that has the loops.
    const ofLoops = [x.byteLength, outputs * 4, outputs * 8].map((bytes) => loops.argreduce_alloc(bytes));
    new Uint8Array(loops.memory.buffer, ofLoops[0], x.byteLength).set(new Uint8Array(x.buffer));
    const loop = loops[`${isOfColumns ? "columns" : "rows"}_${type}`];
    const ways = {
        js: () => byLoops(x, outputs, length, isOfColumns, indices),
        shared: () => sharedLoops(x, outputs, length, isOfColumns, indices),
        rust: () => loop(ofLoops[0], outputs, length, ofLoops[1], ofLoops[2]),
        plain: () => plain.argmax(given[1].array, shape, plainOptions),
        portable: () => simd.argmax(given[0].array, shape, { ...options, isa: "portable" }),
        simd: () => simd.argmax(given[0].array, shape, options),
        fresh: () => simd.argmax(given[0].array, shape, { axis }),
        copied: () => simd.argmax(x, shape, { axis }),
    };
    ways.rust();
    check("a loop of Rust", new Uint32Array(loops.memory.buffer, ofLoops[1], outputs));
    for (const way of ["plain", "portable", "simd", "fresh", "copied"]) check(way, ways[way]().indices);
    for (const [name, library] of Object.entries(libraries)) {
        const made = await library(type, shape, axis, x);
        if (made === null) continue;
        check(name, Array.from(await made[1]()));
        ways[name] = made[0];
    }
    const least = await times(Object.values(ways));
    rows.push([`${type} [${shape.join(", ")}]${shape.length > 1 ? ` axis ${axis}` : ""}`, Object.fromEntries(Object.keys(ways).map((name, n) => [name, least[n]]))]);
    [...given, ...answers].forEach((one) => one.free());
    [x.byteLength, outputs * 4, outputs * 8].forEach((bytes, n) => loops.argreduce_free(ofLoops[n], bytes));
}

const COLUMNS = [
    ["js", "JavaScript, a loop for one type"],
    ["shared", "JavaScript, a loop for all types"],
    ["rust", "Rust, a loop, no vectors"],
    ["plain", "this, no vectors"],
    ["portable", "this, portable, compiled for vectors"],
    ["simd", "**this**"],
    ["fresh", "this, into new arrays"],
    ["copied", "this, of an array elsewhere, into new ones"],
    ["tfjs", "tfjs-backend-wasm"],
    ["ort", "onnxruntime-web"],
];
const shown = (us) => (us >= 100 ? us.toFixed(0) : us >= 10 ? us.toFixed(1) : us.toFixed(2));
const line = (cells) => `| ${cells.join(" | ")} |`;
const lines = [
    line(["µs", ...COLUMNS.map(([, title]) => title)]),
    line(["---", ...COLUMNS.map(() => "---")]),
    ...rows.map(([name, us]) =>
        line([name, ...COLUMNS.map(([way]) => (us[way] === undefined ? "-" : way === "simd" ? `**${shown(us[way])}**` : `${shown(us[way])} (${(us[way] / us.simd).toFixed(1)})`))]),
    ),
];
const version = (name) => { try { return JSON.parse(readFileSync(`${folder}/node_modules/${name}/package.json`)).version; } catch { return "not run"; } };
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
const said = `node ${process.versions.node} (V8 ${process.versions.v8}), ${cpus()[0].model.trim()}, one core, ${new Date().toISOString().slice(0, 10)}, commit ${commit}; tfjs-backend-wasm ${version("@tensorflow/tfjs-backend-wasm")}, onnxruntime-web ${version("onnxruntime-web")}. In brackets: how many times as long as this.`;
console.log([said, "", ...lines].join("\n"));
if (flag === "--write") {
    const [begin, end] = ["<!-- by ci/web speed -->\n", "<!-- end of ci/web speed -->"];
    const text = readFileSync(path, "utf8");
    const [before, rest] = text.split(begin);
    const [, after] = rest.split(end);
    const wrapped = said.replace(/(.{1,118})(?: |$)/g, "$1\n");
    writeFileSync(path, `${before}${begin}\n${wrapped}\n${lines.join("\n")}\n\n${end}${after}`);
}
