/** What the server accepts from the user of the page: pyrometer.version/1. */
import { fromDisk, useDocument } from "./documents";

export interface Server {
    version: string;
    /** Takes uploads at all. */
    uploads: boolean;
    /** The most that one upload may have. */
    upload_bytes: number | null;
    /** Keeps feedback at all. */
    store: boolean;
    /** How many stores it shows the runs of. */
    stores: number;
    role: "view" | "upload" | "admin";
}

/** null: not known yet, or there is no server. */
export function useServer(): Server | null {
    const state = useDocument<Server>(fromDisk ? null : "version");
    return state.status === "ready" ? state.data : null;
}

export function hasStores(server: Server | null): boolean {
    return (server?.stores ?? 0) > 0;
}

export function takesUploads(server: Server | null): boolean {
    return server?.uploads === true && server.role !== "view";
}

export function takesFeedback(server: Server | null): boolean {
    return server?.store === true && server.role !== "view";
}
