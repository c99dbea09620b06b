import type { Flow } from './history_api.ts';

/** Matrix of the flows between fences. */
export interface FlowMatrix {
  /** Sorted by name. */
  readonly fences: readonly { readonly id: string; readonly name: string }[];
  readonly flowOf: (from: string, to: string) => Flow | undefined;
  readonly sumFrom: (id: string) => number;
  readonly sumTo: (id: string) => number;
  readonly most: number;
  readonly total: number;
}

export function matrixOf(flows: readonly Flow[], nameOf: (id: string) => string): FlowMatrix {
  const ids = [...new Set(flows.flatMap(({ from_fence: from, to_fence: to }) => [from, to]))];
  const fences = ids.map((id) => ({ id, name: nameOf(id) }));
  const byPair = new Map(flows.map((flow) => [`${flow.from_fence}\n${flow.to_fence}`, flow]));
  const sum = (which: (flow: Flow) => boolean): number =>
    flows.filter(which).reduce((total, { count }) => total + count, 0);
  return {
    fences: fences.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true })),
    flowOf: (from, to) => byPair.get(`${from}\n${to}`),
    sumFrom: (id) => sum(({ from_fence: from }) => from === id),
    sumTo: (id) => sum(({ to_fence: to }) => to === id),
    most: Math.max(0, ...flows.map(({ count }) => count)),
    total: sum(() => true),
  };
}
