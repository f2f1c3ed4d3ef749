// What ci/web does with the page of examples/web:
//   one-file TO                   writes the page as one file: its script, the package's and the bytes of the module
//   try TOOLS NATIVE OUT          opens it in Chromium, from a server and from that file, and compares its picture with the native one
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";

const [command, ...words] = process.argv.slice(2);

function oneFile(to) {
    const html = readFileSync("examples/web/index.html", "utf8");
    const core = readFileSync("integrations/web/core.js", "utf8").replace("export async function load", "async function load");
    const script = readFileSync("examples/web/page.js", "utf8").replace(/^import \{ load \}.*\n/m, "");
    const bytes = readFileSync("integrations/web/argreduce.wasm").toString("base64");
    const module = `globalThis.moduleBytes = Uint8Array.from(atob("${bytes}"), (letter) => letter.charCodeAt(0));`;
    // A scope for each.
    const all = `${module}\nconst { load } = (() => {\n${core}\nreturn { load };\n})();\n${script}`;
    assert.ok(!/<\/script|^import |^export /m.test(all));
    const page = html.replace('<script type="module" src="page.js"></script>', () => `<script type="module">\n${all}</script>`);
    assert.notEqual(page, html);
    writeFileSync(to, page);
}

const KINDS = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** Files of this folder, as any static server has them. */
async function serve() {
    const server = createServer((request, response) => {
        const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
        try {
            const file = path.endsWith("/") ? join(path, "index.html") : path;
            const body = readFileSync(join(process.cwd(), file));
            response.writeHead(200, { "content-type": KINDS[extname(file)] ?? "application/octet-stream" }).end(body);
        } catch {
            response.writeHead(404).end();
        }
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return server;
}

async function tryIn(page, errors, url, native) {
    await page.goto(url);
    const isDone = async () => {
        await page.waitForFunction(() => ["done", "failed"].includes(document.body.dataset.state), null, { timeout: 60000 });
        assert.equal(await page.evaluate(() => document.body.dataset.state), "done", await page.textContent("#status"));
    };
    const pixels = () =>
        page.evaluate(() => {
            const { width, height } = document.getElementById("map");
            return [width, height, ...document.getElementById("map").getContext("2d").getImageData(0, 0, width, height).data];
        });
    const expected = await page.evaluate(async (png) => {
        const image = new Image();
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        canvas.getContext("2d").drawImage(image, 0, 0);
        return [image.width, image.height, ...canvas.getContext("2d").getImageData(0, 0, image.width, image.height).data];
    }, readFileSync(`${native}/labels.png`).toString("base64"));
    assert.equal(expected.length, 2 + 4 * 256 * 256);

    await isDone();
    assert.deepEqual(await pixels(), expected, "the sample");
    for (const name of ["ours", "loop"]) assert.match(await page.textContent(`#time-${name}`), /^\d+\.\d\d ms$/);

    const says = async (start) => {
        const isSaid = (start) => document.getElementById("status").textContent.includes(start);
        await page.waitForFunction(isSaid, start, { timeout: 20000 }).catch(async () => assert.fail(`"${await page.textContent("#status")}", where "${start}" was expected`));
    };

    // A file that is picked, and one that is dropped.
    await page.setInputFiles("#file", `${native}/argreduce-sample/scores.npy`);
    await says("scores.npy: f32 [21, 256, 256]");
    await isDone();
    assert.deepEqual(await pixels(), expected, "the file");
    const bytes = readFileSync(`${native}/labels.npy`).toString("base64");
    await page.evaluate((bytes) => {
        const data = new DataTransfer();
        data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], "dropped.npy"));
        document.querySelector("main").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, bytes);
    await says("dropped.npy: u8");
    await isDone();

    // By keys alone: the axis, and the type. (A file that is picked already is no change.)
    await page.setInputFiles("#file", []);
    await page.setInputFiles("#file", `${native}/argreduce-sample/scores.npy`);
    await says("scores.npy: f32 [21");
    await isDone();
    for (const [key, said] of [["Tab", "axis 0"], ["ArrowDown", "along axis 1"], ["ArrowUp", "along axis 0"]]) {
        if (key === "Tab") await page.focus("#file");
        await page.keyboard.press(key);
        await says(said);
        await isDone();
    }
    assert.equal(await page.evaluate(() => document.activeElement.id), "axis");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "type");
    for (const type of ["f64", "i16", "u8", "own"]) {
        await page.selectOption("#type", type);
        await says(`: ${type === "own" ? "f32" : type} [21`);
        await isDone();
        if (type === "f64") assert.deepEqual(await pixels(), expected, "as f64");
    }
    assert.deepEqual(await pixels(), expected, "as they are, again");
    // What is read out: every control has a name, and so has the picture.
    for (const id of ["file", "axis", "type"]) assert.ok(await page.evaluate((id) => document.getElementById(id).labels.length, id));
    assert.match(await page.getAttribute("#map", "aria-label"), /256 by 256 pixels, in which \d+ classes/);

    await page.setInputFiles("#file", { name: "no.npy", mimeType: "", buffer: Buffer.from("no array at all") });
    await says("no.npy: it is no .npy file");
    assert.deepEqual(errors, []);
}

async function tryAll(tools, native, out) {
    const { chromium } = createRequire(`${tools}/`)("playwright-core");
    // Without a window there is nobody to protect from whom, and as root there is no sandbox.
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    const server = await serve();
    const origin = `http://127.0.0.1:${server.address().port}`;
    const page = await browser.newPage({ viewport: { width: 800, height: 760 } });
    const errors = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(String(error)));

    await tryIn(page, errors, `${origin}/examples/web/`, native);
    await page.reload();
    await page.waitForFunction(() => document.body.dataset.state === "done");
    await page.screenshot({ path: `${out}/page.png` });
    await tryIn(page, errors, pathToFileURL(`${out}/argreduce-page.html`).href, native);

    // The package, as a page and a worker have it, and 16-bit floats, which node has none of.
    await page.goto(`${origin}/examples/web/`);
    const found = await page.evaluate(async () => {
        const { alloc, argmax, argmin } = await import("/integrations/web/index.js");
        const scores = new Float16Array([1, 5, NaN, 7, 0, 7]);
        const placed = alloc([2, 3], "f16");
        placed.array.set(scores);
        const worker = new Worker(URL.createObjectURL(new Blob([`
            import(${JSON.stringify(new URL("/integrations/web/index.js", location.href).href)}).then(({ argmax }) =>
                postMessage(argmax(Uint8Array.of(1, 9, 3), [3]).indices[0]));
        `], { type: "text/javascript" })), { type: "module" });
        const ofWorker = await new Promise((resolve, reject) => {
            worker.onmessage = (event) => resolve(event.data);
            worker.onerror = reject;
        });
        const values = argmin(scores, [2, 3], { axis: 1, nan: "ignore", values: true }).values;
        return {
            best: [...argmax(scores, [2, 3], { axis: 1 }).indices],
            placed: [...argmax(placed.array, [2, 3], { axis: 1, nan: "ignore", selectLast: true }).indices],
            values: [values.constructor.name, ...values],
            ofWorker,
        };
    });
    assert.deepEqual(found, { best: [2, 0], placed: [1, 2], values: ["Float16Array", 1, 0], ofWorker: 1 });
    assert.deepEqual(errors, []);
    console.log(`Chromium ${browser.version()}: the pictures are the native one; 16-bit floats, a worker: as they should be`);
    await browser.close();
    server.close();
}

if (command === "one-file") oneFile(...words);
else await tryAll(...words);
