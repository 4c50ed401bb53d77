/**
 * Several files as one zip archive, stored as they are: the server reads logs inside archives, and event logs are compressed
 * already where size matters. Files are read twice, for their checksums and while they are sent, and never held in memory.
 */
import type { Named } from "./files";

/** Beyond it an archive has other tables, which this writes none of. */
export const MOST_ZIP_BYTES = 0xffff_ffff;
const STEP = 4 * 1024 * 1024;
const DOS_DATE = 0x21; // 1980-01-01: the time of a member says nothing about a log

const TABLES = (() => {
    const tables = Array.from({ length: 4 }, () => new Uint32Array(256));
    for (let i = 0; i < 256; i++) {
        let value = i;
        for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
        tables[0]![i] = value;
    }
    for (let i = 0; i < 256; i++)
        for (let k = 1; k < 4; k++) {
            const before = tables[k - 1]![i]!;
            tables[k]![i] = (before >>> 8) ^ tables[0]![before & 0xff]!;
        }
    return tables as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
})();

/** CRC-32 of bytes that follow others; 0 begins. Four bytes a step. */
export function crc32(bytes: Uint8Array, before = 0): number {
    const [t0, t1, t2, t3] = TABLES;
    let crc = ~before;
    let i = 0;
    for (; i + 4 <= bytes.length; i += 4) {
        crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
        crc = t3[crc & 0xff]! ^ t2[(crc >>> 8) & 0xff]! ^ t1[(crc >>> 16) & 0xff]! ^ t0[crc >>> 24]!;
    }
    for (; i < bytes.length; i++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[i]!) & 0xff]!;
    return ~crc >>> 0;
}

interface Member {
    name: Uint8Array<ArrayBuffer>;
    crc: number;
    size: number;
    offset: number;
}

/** Fields of two and four bytes, least byte first. */
function record(fields: [bytes: 2 | 4, value: number][]): Uint8Array<ArrayBuffer> {
    const view = new DataView(new ArrayBuffer(fields.reduce((sum, [bytes]) => sum + bytes, 0)));
    let at = 0;
    for (const [bytes, value] of fields) {
        if (bytes === 2) view.setUint16(at, value, true);
        else view.setUint32(at, value, true);
        at += bytes;
    }
    return new Uint8Array(view.buffer);
}

/** What a member's two headers have in common; names are UTF-8 (bit 11), nothing is compressed. */
function common({ name, crc, size }: Member): [2 | 4, number][] {
    return [
        [2, 20],
        [2, 1 << 11],
        [2, 0],
        [2, 0],
        [2, DOS_DATE],
        [4, crc],
        [4, size],
        [4, size],
        [2, name.length],
        [2, 0],
    ];
}

function localHeader(member: Member): Uint8Array<ArrayBuffer> {
    return record([[4, 0x04034b50], ...common(member)]);
}

function centralHeader(member: Member): Uint8Array<ArrayBuffer> {
    return record([
        [4, 0x02014b50],
        [2, (3 << 8) | 20], // as Unix makes them: the mode is in the upper half of the attributes
        ...common(member),
        [2, 0],
        [2, 0],
        [2, 0],
        [4, (0o100644 << 16) >>> 0],
        [4, member.offset],
    ]);
}

async function checksum(file: Blob, signal: AbortSignal, read: (bytes: number) => void): Promise<number> {
    let crc = 0;
    for (let at = 0; at < file.size; at += STEP) {
        signal.throwIfAborted();
        const bytes = new Uint8Array(await file.slice(at, at + STEP).arrayBuffer());
        crc = crc32(bytes, crc);
        read(bytes.length);
    }
    return crc;
}

/** `read`: how many bytes were looked at since it was called last. */
export async function zipOf(files: Named[], signal: AbortSignal, read: (bytes: number) => void): Promise<Blob> {
    const parts: BlobPart[] = [];
    const members: Member[] = [];
    let offset = 0;
    for (const { name, file } of files) {
        const member = {
            name: new TextEncoder().encode(name),
            crc: await checksum(file, signal, read),
            size: file.size,
            offset,
        };
        const header = localHeader(member);
        parts.push(header, member.name, file);
        members.push(member);
        offset += header.length + member.name.length + file.size;
    }
    const directory = members.flatMap((member) => [centralHeader(member), member.name]);
    const length = directory.reduce((sum, bytes) => sum + bytes.length, 0);
    const end = record([
        [4, 0x06054b50],
        [2, 0],
        [2, 0],
        [2, members.length],
        [2, members.length],
        [4, length],
        [4, offset],
        [2, 0],
    ]);
    return new Blob([...parts, ...directory, end]);
}
