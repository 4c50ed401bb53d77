/** Files out of what was dropped or chosen, folders walked through, and which of them are one log. */

export interface Named {
    /** Path below what was dropped. */
    name: string;
    file: File;
}

/** What is sent at once: a file, or the files that one log is made of. */
export interface Unit {
    /** As people know it. */
    title: string;
    files: Named[];
    /** The files belong together and go as one archive. */
    joined: boolean;
}

const MOST_FILES = 20000;

function fileOf(entry: FileSystemFileEntry): Promise<File> {
    return new Promise((resolve, reject) => entry.file(resolve, reject));
}

function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
    return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

export async function filesOf(data: DataTransfer): Promise<Named[]> {
    // entries are invalid once this returns to the browser: take them all before the first wait
    const waiting: { path: string; entry: FileSystemEntry }[] = [];
    const found: Named[] = [];
    for (const item of data.items) {
        const entry = item.webkitGetAsEntry?.();
        if (entry) waiting.push({ path: entry.name, entry });
        else {
            const file = item.getAsFile();
            if (file) found.push({ name: file.name, file });
        }
    }
    while (waiting.length && found.length < MOST_FILES) {
        const { path, entry } = waiting.shift()!;
        if (entry.isFile) found.push({ name: path, file: await fileOf(entry as FileSystemFileEntry) });
        else if (entry.isDirectory) {
            const reader = (entry as FileSystemDirectoryEntry).createReader();
            for (let some = await entriesOf(reader); some.length; some = await entriesOf(reader))
                for (const one of some) waiting.push({ path: `${path}/${one.name}`, entry: one });
        }
    }
    return found;
}

/** The files of a chooser; those of a folder know their path below it. */
export function chosenFiles(list: FileList): Named[] {
    return [...list].map((file) => ({ name: file.webkitRelativePath || file.name, file }));
}

/** What joins the files of one folder to one log, by their names as Spark and Databricks write them; null: nothing. */
function keyOf(name: string): string | null {
    const part = /^(?:events_\d+_|appstatus_)(.+?)(?:\.inprogress)?(?:\.(?:lz4|lzf|snappy|zstd))?(?:\.compact)?$/.exec(
        name,
    );
    if (part) return part[1]!;
    return /^eventlog(-\d{4}-\d\d-\d\d--\d\d-\d\d(\.gz)?)?$/.test(name) ? "eventlog" : null;
}

function isWanted({ name }: Named): boolean {
    return !/(^|\/)[._]|\.crc$/.test(name);
}

/** The files of a rolling log are one upload, every other file is one by itself; empty ones count in rolling logs only. */
export function unitsOf(all: Named[]): Unit[] {
    const units: Unit[] = [];
    const joined = new Map<string, Unit>();
    for (const one of all.filter(isWanted)) {
        const slash = one.name.lastIndexOf("/");
        const [folder, name] = [one.name.slice(0, Math.max(0, slash)), one.name.slice(slash + 1)];
        const key = keyOf(name);
        if (key === null) {
            if (one.file.size > 0) units.push({ title: one.name, files: [one], joined: false });
            continue;
        }
        const known = joined.get(`${folder}\n${key}`);
        // Spark looks for its parts in a folder of that name only.
        const title = folder.split("/").pop() || (key === "eventlog" ? key : `eventlog_v2_${key}`);
        const inside = title.startsWith("eventlog_v2_") || key === "eventlog" ? title : `eventlog_v2_${key}`;
        const file = { name: `${inside}/${name}`, file: one.file };
        if (known) known.files.push(file);
        else {
            const unit = { title, files: [file], joined: true };
            joined.set(`${folder}\n${key}`, unit);
            units.push(unit);
        }
    }
    // A single file of Databricks' is a log like any other.
    for (const unit of units)
        if (unit.files.length === 1 && unit.joined && /(^|\/)eventlog[^/]*$/.test(unit.files[0]!.name))
            unit.joined = false;
    return units.filter((unit) => bytesOf(unit) > 0);
}

export function bytesOf(unit: Unit): number {
    return unit.files.reduce((sum, { file }) => sum + file.size, 0);
}
