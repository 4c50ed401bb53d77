declare module "*.css";
declare module "licences" {
    /** The packages inside this page, filled in by build.mjs. */
    const licences: { name: string; version: string; licence: string; text: string }[];
    export default licences;
}
