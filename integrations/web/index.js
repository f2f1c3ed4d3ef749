// The functions of the package, by the module that comes with it: fetched from beside this file, or in node read from there.
import { load } from "./core.js";

async function source() {
    const url = new URL("./argreduce.wasm", import.meta.url);
    if (url.protocol === "file:" && typeof process === "object" && process.versions?.node) {
        const { readFile } = await import("node:fs/promises");
        return readFile(url);
    }
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url} could not be loaded: ${response.status}`);
    return response.arrayBuffer();
}

export const { argmin, argmax, argminmax, alloc } = await load(source());
