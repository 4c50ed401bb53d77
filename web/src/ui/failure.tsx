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
                title="This page cannot be shown"
                message={`${error.message}. Its data may come from another version of Pyrometer. pyrometer diagnose LOG shows the same as text.`}
                retry={() => this.setState({ error: null })}
            />
        );
    }
}
