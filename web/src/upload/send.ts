/** One file to the server. XMLHttpRequest, since fetch does not tell how much was sent. */

export interface Sent {
    applications: { id: string; attempt: string | null }[];
    unreadable: { path: string; error: string }[];
    error: string | null;
}

function answerOf(request: XMLHttpRequest): Sent {
    let value: {
        applications?: Sent["applications"];
        unreadable?: Sent["unreadable"];
        error?: { message?: string };
    } = {};
    try {
        value = JSON.parse(request.responseText || "{}");
    } catch {
        // told below by its status
    }
    const good = request.status >= 200 && request.status < 300;
    return {
        applications: value.applications ?? [],
        unreadable: value.unreadable ?? [],
        error: good ? null : (value.error?.message ?? `The server answered ${request.status} ${request.statusText}.`),
    };
}

export function sendFile(
    name: string,
    file: Blob,
    progress: (sent: number) => void,
): { done: Promise<Sent>; cancel: () => void } {
    const request = new XMLHttpRequest();
    const failed = (error: string): Sent => ({ applications: [], unreadable: [], error });
    const done = new Promise<Sent>((resolve) => {
        request.upload.onprogress = (event) => progress(event.loaded);
        request.onload = () => resolve(answerOf(request));
        request.onerror = () => resolve(failed("The server does not answer, or refused so large a file."));
        request.onabort = () => resolve(failed("Cancelled."));
        request.open("POST", `pyrometer/v1/uploads?${new URLSearchParams({ name })}`);
        request.setRequestHeader("Content-Type", "application/octet-stream");
        request.send(file);
    });
    return { done, cancel: () => request.abort() };
}
