/** Files out of what was dropped, folders walked through. */

export interface Named {
    /** Path below what was dropped. */
    name: string;
    file: File;
}

const MOST_FILES = 2000;

function fileOf(entry: FileSystemFileEntry): Promise<File> {
    return new Promise((resolve, reject) => entry.file(resolve, reject));
}

function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
    return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

export async function filesOf(data: DataTransfer): Promise<Named[]> {
    // entries are gone once this returns to the browser: take them all before the first wait
    const waiting: { path: string; entry: FileSystemEntry }[] = [];
    const plain: Named[] = [];
    for (const item of data.items) {
        const entry = item.webkitGetAsEntry?.();
        if (entry) waiting.push({ path: entry.name, entry });
        else {
            const file = item.getAsFile();
            if (file) plain.push({ name: file.name, file });
        }
    }
    const found = plain;
    while (waiting.length && found.length < MOST_FILES) {
        const { path, entry } = waiting.shift()!;
        if (entry.isFile) found.push({ name: path, file: await fileOf(entry as FileSystemFileEntry) });
        else if (entry.isDirectory) {
            const reader = (entry as FileSystemDirectoryEntry).createReader();
            for (let some = await entriesOf(reader); some.length; some = await entriesOf(reader))
                for (const one of some) waiting.push({ path: `${path}/${one.name}`, entry: one });
        }
    }
    return found.filter(({ name, file }) => file.size > 0 && !/(^|\/)\./.test(name));
}
