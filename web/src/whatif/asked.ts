/** The scenario that the address of the page names. */

export interface Asked {
    executors: string;
    cores: string;
    memory: string;
    /** "same", "new" or a number. */
    hosts: string;
    partitions: string;
    data: string;
    more: string;
    /** Ids of findings to fix, one per line. */
    fix: string;
    /** "true": with all recommended settings; "false": without; empty: with them where nothing else is asked. */
    plan: string;
}

export const FIELDS: (keyof Asked)[] = [
    "executors",
    "cores",
    "memory",
    "hosts",
    "partitions",
    "data",
    "more",
    "fix",
    "plan",
];

/** Whether the scenario has the recommended settings. */
export function takesPlan(asked: Asked, any: boolean): boolean {
    return any && (asked.plan === "true" || FIELDS.every((name) => asked[name] === ""));
}

export function readAsked(query: URLSearchParams): Asked {
    return Object.fromEntries(FIELDS.map((name) => [name, query.get(name) ?? ""])) as unknown as Asked;
}

/** The request for one scenario; null: nothing is changed. `plan`: settings are recommended for this run. */
export function requestOf(asked: Asked, plan: boolean): string | null {
    const parameters = new URLSearchParams();
    if (asked.executors) parameters.set("executors", asked.executors);
    if (asked.cores) parameters.set("cores", asked.cores);
    if (asked.memory) parameters.set("memory", `${asked.memory}m`);
    if (asked.hosts) parameters.set("hosts", asked.hosts);
    if (asked.data) parameters.set("scale-input", asked.data);
    if (asked.partitions) parameters.append("set", `spark.sql.shuffle.partitions=${asked.partitions}`);
    for (const line of asked.more.split("\n")) if (line.trim()) parameters.append("set", line.trim());
    for (const id of asked.fix.split("\n")) if (id.trim()) parameters.append("fix", id.trim());
    if (takesPlan(asked, plan)) parameters.set("plan", "true");
    const text = parameters.toString();
    return text ? `whatif?${text}` : null;
}
