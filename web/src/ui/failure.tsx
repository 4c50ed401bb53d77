/** What is shown instead of a page that broke: never a blank one. */
import { Component, type ComponentChildren } from "preact";
import { Problem } from "./parts";

export class Failure extends Component<{ children: ComponentChildren }, { error: Error | null }> {
    override state = { error: null as Error | null };

    static override getDerivedStateFromError(error: Error) {
        return { error };
    }

    override componentDidCatch(error: Error) {
        console.error(error);
    }

    override render() {
        const { error } = this.state;
        if (!error) return this.props.children;
        return (
            <Problem
                title="This page could not be drawn"
                message={`${error.message}. The document that it shows may come from another version; the report as text has the same facts.`}
                retry={() => this.setState({ error: null })}
            />
        );
    }
}
