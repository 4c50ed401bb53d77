/** The scenario that the address of the page names. */

export interface Asked {
    executors: string;
    cores: string;
    memory: string;
    partitions: string;
    data: string;
    more: string;
}

export const FIELDS: (keyof Asked)[] = ["executors", "cores", "memory", "partitions", "data", "more"];

export function readAsked(query: URLSearchParams): Asked {
    return Object.fromEntries(FIELDS.map((name) => [name, query.get(name) ?? ""])) as unknown as Asked;
}

/** The request for one scenario; null: nothing is changed. */
export function requestOf(asked: Asked): string | null {
    const parameters = new URLSearchParams();
    if (asked.executors) parameters.set("executors", asked.executors);
    if (asked.cores) parameters.set("cores", asked.cores);
    if (asked.memory) parameters.set("memory", `${asked.memory}m`);
    if (asked.data) parameters.set("scale-input", asked.data);
    if (asked.partitions) parameters.append("set", `spark.sql.shuffle.partitions=${asked.partitions}`);
    for (const line of asked.more.split("\n")) if (line.trim()) parameters.append("set", line.trim());
    const text = parameters.toString();
    return text ? `whatif?${text}` : null;
}
