/** What is looked for: the rules, and the page of one. */
import { useDocument } from "../data/documents";
import { link } from "../router";
import { Markdown } from "../ui/markdown";
import { Loaded } from "../ui/parts";
import { Table } from "../ui/table";
import type { RootPageProps } from "./pages";

interface Rule {
    id: string;
    category: string;
    title: string;
    summary: string;
}

interface RulePage extends Rule {
    page: string;
}

function One({ id }: { id: string }) {
    const state = useDocument<RulePage>(`rules/${encodeURIComponent(id)}`);
    return (
        <>
            <p class="note">
                <a href={link(["rules"])}>All rules</a>
            </p>
            <Loaded state={state} what={`rule ${id}`}>
                {(rule) => (
                    <article class="panel prose">
                        <Markdown text={rule.page} />
                    </article>
                )}
            </Loaded>
        </>
    );
}

function All() {
    const state = useDocument<{ rules: Rule[] }>("rules");
    return (
        <>
            <h1>Rules</h1>
            <Loaded state={state} what="rules">
                {({ rules }) => (
                    <Table
                        caption="Rules"
                        rows={rules}
                        columns={[
                            {
                                name: "Rule",
                                value: (row) => row.id,
                                cell: (row) => <a href={link(["rules", row.id])}>{row.id}</a>,
                            },
                            {
                                name: "Category",
                                minor: true,
                                value: (row) => row.category,
                                cell: (row) => row.category,
                            },
                            { name: "What it looks for", cell: (row) => row.summary },
                        ]}
                    />
                )}
            </Loaded>
        </>
    );
}

export function Rules({ rest }: RootPageProps) {
    const [id] = rest;
    return <div class="page">{id === undefined ? <All /> : <One key={id} id={id} />}</div>;
}
