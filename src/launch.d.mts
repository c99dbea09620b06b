/** Options of Node that the hub is started with. */
export declare const HUB_NODE_ARGS: readonly string[];
