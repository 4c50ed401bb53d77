/** The keys that work, by '?'. */
import { appPages, rootPages } from "../pages/pages";
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

export function Help({ onClose, inApp }: { onClose: () => void; inApp: boolean }) {
    return (
        <Dialog title="Keys" onClose={onClose}>
            <table class="keys">
                <caption class="off-screen">Keys and what they do</caption>
                <tbody>
                    <Keys keys="?" what="This help" />
                    <Keys keys="/" what="Search" />
                    <Keys keys="t" what="Light or dark" />
                    {rootPages.map((page) => (
                        <Keys key={page.path} keys={`g ${page.key}`} what={page.title} />
                    ))}
                    {inApp && appPages.map((page) => <Keys key={page.path} keys={`g ${page.key}`} what={page.title} />)}
                    {inApp && (
                        <>
                            <Keys keys="← → ↑ ↓" what="Timeline: move" />
                            <Keys keys="+ -" what="Timeline: closer, farther" />
                            <Keys keys="0" what="Timeline: the whole run" />
                        </>
                    )}
                </tbody>
            </table>
        </Dialog>
    );
}
