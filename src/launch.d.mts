/** Options of Node that the hub is started with. */
export declare const HUB_NODE_ARGS: readonly string[];
export declare const HUB_ENV: Readonly<Record<string, string>>;
/** Output of bundle.mjs that starts the hub, in the folder of the project. */
export declare const HUB_BUNDLE: string;
