/** The Markdown that the rules' pages are written in: headings, paragraphs, lists, tables, code, links. */
import type { ComponentChildren } from "preact";

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)|\*([^*\s][^*]*)\*|<(https:[^>\s]+)>/g;

/** Text with code, bold and links; links that lead out of the pages are text with their address. */
function inline(text: string): ComponentChildren[] {
    const parts: ComponentChildren[] = [];
    let from = 0;
    for (const match of text.matchAll(INLINE)) {
        if (match.index > from) parts.push(text.slice(from, match.index));
        if (match[1] !== undefined) parts.push(<code>{match[1]}</code>);
        else if (match[2] !== undefined) parts.push(<strong>{match[2]}</strong>);
        else if (match[5] !== undefined) parts.push(<em>{match[5]}</em>);
        else if (match[6] !== undefined) parts.push(linked(match[6], match[6]));
        else parts.push(linked(match[3] ?? "", match[4] ?? ""));
        from = match.index + match[0].length;
    }
    if (from < text.length) parts.push(text.slice(from));
    return parts;
}

function linked(text: string, address: string): ComponentChildren {
    const rule = /^([a-z-]+)\.md(#.*)?$/.exec(address);
    if (rule?.[1]) return <a href={`#/rules/${rule[1]}`}>{text}</a>;
    return /^https:\/\//.test(address) ? (
        <a href={address} rel="noreferrer">
            {text}
        </a>
    ) : (
        text
    );
}

function cells(line: string): string[] {
    return line
        .replace(/^\||\|$/g, "")
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function TableOf({ lines }: { lines: string[] }) {
    const [head = "", , ...rows] = lines;
    return (
        <div class="table-scroll" role="region" aria-label="Table" tabIndex={0}>
            <table>
                <thead>
                    <tr>
                        {cells(head).map((cell, i) => (
                            <th key={i} scope="col">
                                {inline(cell)}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.map((row, r) => (
                        <tr key={r}>
                            {cells(row).map((cell, i) => (
                                <td key={i}>{inline(cell)}</td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function ListOf({ lines }: { lines: string[] }) {
    const ordered = /^\d+\./.test(lines[0] ?? "");
    const items: string[] = [];
    for (const line of lines) {
        const item = /^(?:[-*]|\d+\.)\s+(.*)$/.exec(line);
        if (item) items.push(item[1] ?? "");
        else if (items.length) items[items.length - 1] += ` ${line.trim()}`;
    }
    const children = items.map((item, i) => <li key={i}>{inline(item)}</li>);
    return ordered ? <ol>{children}</ol> : <ul>{children}</ul>;
}

function headingOf(line: string): ComponentChildren {
    const level = /^#+/.exec(line)?.[0].length ?? 1;
    const text = inline(line.replace(/^#+\s*/, ""));
    return level === 1 ? <h1>{text}</h1> : level === 2 ? <h2>{text}</h2> : <h3>{text}</h3>;
}

/** Blocks of the text; each line is looked at once. */
function blocks(text: string): ComponentChildren[] {
    const lines = text.split("\n");
    const out: ComponentChildren[] = [];
    let i = 0;
    const while_ = (wanted: (line: string) => boolean): string[] => {
        const from = i;
        while (i < lines.length && wanted(lines[i] ?? "")) i++;
        return lines.slice(from, i);
    };
    while (i < lines.length) {
        const line = lines[i] ?? "";
        if (!line.trim()) i++;
        else if (line.startsWith("#")) {
            out.push(headingOf(line));
            i++;
        } else if (line.startsWith("```")) {
            i++;
            out.push(<pre>{while_((one) => !one.startsWith("```")).join("\n")}</pre>);
            i++;
        } else if (line.startsWith("    ")) {
            out.push(
                <pre>
                    {while_((one) => one.startsWith("    "))
                        .map((one) => one.slice(4))
                        .join("\n")}
                </pre>,
            );
        } else if (line.startsWith("|")) out.push(<TableOf lines={while_((one) => one.startsWith("|"))} />);
        else if (/^([-*]|\d+\.)\s/.test(line))
            out.push(<ListOf lines={while_((one) => /^([-*]|\d+\.)\s/.test(one) || /^\s{2,}\S/.test(one))} />);
        else
            out.push(
                <p>
                    {inline(while_((one) => one.trim() !== "" && !/^(#|\||```|([-*]|\d+\.)\s)/.test(one)).join(" "))}
                </p>,
            );
    }
    return out;
}

export function Markdown({ text }: { text: string }) {
    return (
        <>
            {blocks(text).map((block, i) => (
                <div key={i} class="block">
                    {block}
                </div>
            ))}
        </>
    );
}
