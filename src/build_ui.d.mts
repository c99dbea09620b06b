/** Types of build_ui.mjs. */

export declare function ensureBuilt(root?: string): void;
