// Makes the page out of src/: node build.mjs FOLDER [DEPFILE TARGET]
//
// FOLDER gets app.js, app.css, index.html (what the server answers at /) and report-1.html ... report-4.html, the pieces
// around style, data and script of the page that works from disk (src/report/diagnosis/html.c puts them together).
// DEPFILE: the files that went in, for make and ninja.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const [folder, depfile, target] = process.argv.slice(2);
if (!folder) {
    console.error("usage: node build.mjs FOLDER [DEPFILE TARGET]");
    process.exit(2);
}

/** The package that a bundled file belongs to, or undefined. */
function packageOf(path) {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
    return match?.[1];
}

/** Names, versions, licences and licence texts of the packages that a bundle contains. */
function licencesOf(inputs) {
    const folders = [...new Set(inputs.map(packageOf).filter(Boolean))].sort();
    return folders.map((path) => {
        const info = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
        const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
        const text = file ? readFileSync(join(path, file), "utf8").trim() : "";
        if (!text) throw new Error(`${info.name} has no licence text`);
        return { name: info.name, version: info.version, licence: info.license, text };
    });
}

const options = {
    entryPoints: { app: join(root, "src/main.tsx") },
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2021"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none", // the licences are a page of their own
    loader: { ".svg": "text" },
    outdir: resolve(folder),
    write: false,
    metafile: true,
    logLevel: "warning",
    absWorkingDir: root,
};

/** Modules that are made here, by their names. */
function madeModules(values) {
    return {
        name: "made",
        setup(build) {
            build.onResolve({ filter: new RegExp(`^(${Object.keys(values).join("|")})$`) }, ({ path }) => ({
                path,
                namespace: "made",
            }));
            build.onLoad({ filter: /.*/, namespace: "made" }, ({ path }) => ({
                contents: JSON.stringify(values[path]),
                loader: "json",
            }));
        },
    };
}

/** What profilers take samples of, as the library lists it: names with what they mean. */
const sampleTable = join(root, "../src/model/tracks/sample_events.def");
const samples = [
    ...readFileSync(sampleTable, "utf8").matchAll(/^PYRO_SAMPLE_EVENT\(\w+, "(\w+)", "\w+", "([^"]+)"\)$/gm),
].map(([, name, meaning]) => ({ name, meaning }));
if (samples.length === 0) throw new Error(`${sampleTable} has no row`);

const first = await esbuild.build({ ...options, minify: false, plugins: [madeModules({ licences: [], samples })] }); // it says which packages are in
const inputs = Object.keys(first.metafile.inputs).filter((name) => existsSync(join(root, name)));
const licences = licencesOf(inputs.map((name) => join(root, name)));
const made = await esbuild.build({ ...options, plugins: [madeModules({ licences, samples })] });

const text = (ending) => made.outputFiles.find((file) => file.path.endsWith(ending))?.text.trimEnd() ?? "";
const script = text(".js");
const style = text(".css");
if (script.includes("</script") || style.includes("</style")) throw new Error("the bundle would end its own element");
const digest = (content) => createHash("sha256").update(content).digest("base64");
const short = (content) => createHash("sha256").update(content).digest("hex").slice(0, 12);

const template = readFileSync(join(root, "src/page.html"), "utf8");
const names = { script: `app.${short(script)}.js`, style: `app.${short(style)}.css` };
const index = template
    .replace("<!--policy-->", "")
    .replace("<!--style-->", `<link rel="stylesheet" href="${names.style}">`)
    .replace("<!--data-->", "")
    .replace("<!--script-->", `<script src="${names.script}" defer></script>`);

const policy = [
    "default-src 'none'",
    `script-src 'sha256-${digest(script)}'`,
    `style-src 'sha256-${digest(style)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
].join("; ");
const mark = "\0";
const pieces = template
    .replace("<!--policy-->", `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replace("<!--style-->", `<style>${mark}</style>`)
    .replace("<!--data-->", `<script type="application/json" id="pyrometer-data">${mark}</script>`)
    .replace("<!--script-->", `<script>${mark}</script>`)
    .split(mark);
if (pieces.length !== 4) throw new Error("src/page.html needs its places for style, data and script");

mkdirSync(folder, { recursive: true });
const write = (name, content) => writeFileSync(join(folder, name), content);
write("app.js", script);
write("app.css", style);
write("index.html", index);
write("names.json", JSON.stringify(names));
pieces.forEach((piece, i) => {
    write(`report-${i + 1}.html`, piece);
});
if (depfile) {
    const files = [...inputs, "src/page.html", "build.mjs", "package-lock.json"].map((name) => join(root, name));
    files.push(sampleTable);
    writeFileSync(depfile, `${target}: ${files.map((name) => relative(".", name).replaceAll(" ", "\\ ")).join(" ")}\n`);
}
const kib = (content) => `${(Buffer.byteLength(content) / 1024).toFixed(0)} KiB`;
console.error(`script ${kib(script)}, style ${kib(style)}`);
