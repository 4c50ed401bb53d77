/** Rows of bars on one scale: a table that can be read at a glance. */
import type { ComponentChildren } from "preact";

export interface Bar {
    key: string;
    name: ComponentChildren;
    value: number;
    text: string;
    /** The whole name, which may not fit. */
    title?: string;
}

export function Bars({ caption, bars }: { caption: string; bars: Bar[] }) {
    const most = bars.reduce((largest, bar) => Math.max(largest, bar.value), 0);
    return (
        <table class="bars">
            <caption class="off-screen">{caption}</caption>
            <tbody>
                {bars.map((bar) => (
                    <tr key={bar.key} title={bar.title}>
                        <th scope="row">{bar.name}</th>
                        <td class="bar-place" aria-hidden="true">
                            <span style={{ width: `${most > 0 ? (100 * bar.value) / most : 0}%` }} />
                        </td>
                        <td class="number">{bar.text}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}
