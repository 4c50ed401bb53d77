/** The keys that work, by '?'. */
import { type AppPage, rootPages } from "../pages/pages";
import { Dialog } from "./parts";

function Keys({ keys, what }: { keys: string; what: string }) {
    return (
        <tr>
            <td>
                {keys.split(" ").map((key) => (
                    <kbd key={key}>{key}</kbd>
                ))}
            </td>
            <td>{what}</td>
        </tr>
    );
}

export function Help({ onClose, inApp, pages }: { onClose: () => void; inApp: boolean; pages: AppPage[] }) {
    return (
        <Dialog title="Keyboard shortcuts" onClose={onClose}>
            <table class="keys">
                <caption class="off-screen">Keys and their actions</caption>
                <tbody>
                    <Keys keys="?" what="This help" />
                    <Keys keys="/" what="Search" />
                    <Keys keys="t" what="Light or dark theme" />
                    {rootPages.map((page) => (
                        <Keys key={page.path} keys={`g ${page.key}`} what={page.title} />
                    ))}
                    {pages.map((page) => (
                        <Keys key={page.path} keys={`g ${page.key}`} what={page.title} />
                    ))}
                    {inApp && (
                        <>
                            <Keys keys="← → ↑ ↓" what="Timeline: move" />
                            <Keys keys="+ -" what="Timeline: zoom in, zoom out" />
                            <Keys keys="0" what="Timeline: the whole run" />
                        </>
                    )}
                </tbody>
            </table>
        </Dialog>
    );
}
