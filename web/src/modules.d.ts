declare module "*.css";
declare module "licences" {
    /** The packages inside this page, filled in by build.mjs. */
    const licences: { name: string; version: string; licence: string; text: string }[];
    export default licences;
}

declare module "samples" {
    /** What profilers take samples of, filled in by build.mjs. */
    const samples: { name: string; meaning: string }[];
    export default samples;
}
