// Unit tests of the web UI's own functions: node unit.mjs FOLDER bundles every *.test.ts beside this file and runs it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const web = join(here, "../../web");
const esbuild = createRequire(join(web, "package.json"))("esbuild");
const folder = process.argv[2];
if (!folder) {
    console.error("usage: node unit.mjs FOLDER");
    process.exit(2);
}
mkdirSync(folder, { recursive: true });
const names = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
await esbuild.build({
    entryPoints: names.map((name) => join(here, name)),
    bundle: true,
    format: "esm",
    platform: "node",
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    nodePaths: [join(web, "node_modules")],
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
});
const files = names.map((name) => join(folder, name.replace(/\.ts$/, ".mjs")));
const run = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
process.exit(run.status ?? 1);
