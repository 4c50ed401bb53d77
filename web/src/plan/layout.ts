/** The places of a plan's operators: what feeds an operator is above it. */
import { graphlib, layout } from "@dagrejs/dagre";
import type { Plan, PlanNode } from "./types";

export const BOX = { width: 208, height: 62 };
/** With more operators than this a picture does not help: the table shows them. */
export const MOST_NODES = 800;

export interface Placed {
    node: PlanNode;
    x: number;
    y: number;
}

export interface Wire {
    from: PlanNode;
    to: PlanNode;
    points: { x: number; y: number }[];
}

export interface PlanLayout {
    nodes: Placed[];
    wires: Wire[];
    width: number;
    height: number;
}

/** Operators without frames, and what feeds what across them. */
export function withoutFrames(plan: Plan): { nodes: PlanNode[]; edges: [number, number][] } {
    const byId = new Map(plan.nodes.map((node) => [node.id, node]));
    const feeds = new Map(plan.edges.map(([from, to]) => [from, to]));
    const edges: [number, number][] = [];
    for (const node of plan.nodes) {
        if (node.frame) continue;
        let to = feeds.get(node.id);
        const seen = new Set<number>(); // a plan that runs in a circle is not valid, but must not hang the page
        while (to !== undefined && byId.get(to)?.frame && !seen.has(to)) {
            seen.add(to);
            to = feeds.get(to);
        }
        if (to !== undefined && byId.has(to) && !byId.get(to)!.frame) edges.push([node.id, to]);
    }
    return { nodes: plan.nodes.filter((node) => !node.frame), edges };
}

/** Ids of its stages, each once: a stage that ran again is in it for each attempt. */
export function stagesOf(node: PlanNode): number[] {
    return [...new Set(node.stages)].sort((a, b) => a - b);
}

export function placePlan(plan: Plan): PlanLayout {
    const { nodes, edges } = withoutFrames(plan);
    const graph = new graphlib.Graph({ multigraph: true });
    graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 34, marginx: 12, marginy: 12 });
    graph.setDefaultEdgeLabel(() => ({}));
    const byId = new Map(nodes.map((node) => [node.id, node]));
    for (const node of nodes) graph.setNode(String(node.id), { width: BOX.width, height: BOX.height });
    edges.forEach(([from, to], i) => {
        graph.setEdge(String(from), String(to), {}, String(i));
    });
    layout(graph);
    const size = graph.graph();
    const placed = nodes.map((node) => {
        const { x, y } = graph.node(String(node.id));
        return { node, x: x - BOX.width / 2, y: y - BOX.height / 2 };
    });
    return {
        // Row by row, as people read: the Tab key follows this order.
        nodes: placed.sort((a, b) => a.y - b.y || a.x - b.x),
        wires: graph.edges().map((edge) => ({
            from: byId.get(Number(edge.v))!,
            to: byId.get(Number(edge.w))!,
            points: graph.edge(edge).points,
        })),
        width: Math.max(1, size.width ?? 1),
        height: Math.max(1, size.height ?? 1),
    };
}
