// What ci/wasm runs in node: MODULE INPUTS ISA.. tries the targets of fuzz/src/wasm.rs, and fails unless they ran on just these ISAs.
import { readFileSync } from "node:fs";

const [path, inputs, ...isas] = process.argv.slice(2);
const said = [];
let memory;
const say = (start, length) => {
    const text = new TextDecoder().decode(new Uint8Array(memory.buffer, start, length));
    said.push(text);
    console.log(text);
};
const { instance } = await WebAssembly.instantiate(readFileSync(path), { host: { say } });
memory = instance.exports.memory;

// Their places in TARGETS.
const targets = { slices: 0, tensors: 1, calls: 3 };
for (const [name, target] of Object.entries(targets)) {
    const started = performance.now();
    const seeds = instance.exports.try_target(target, 0n, Number(inputs));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${name}: ${inputs} inputs of ${seeds} seeds, 0 wrong, ${seconds} s`);
    const expected = `${name}: ${isas.join(", ")} (`;
    if (!said.at(-1).startsWith(expected)) {
        console.error(`where "${expected}" was expected`);
        process.exit(1);
    }
}
