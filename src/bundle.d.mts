/** Types of bundle.mjs. */

export declare function bundleFolder(root?: string): string;
export declare function bundleOf(file: string, root?: string): string;
export declare function entriesIn(root?: string): readonly string[];
export declare function bundlePackages(root?: string): readonly string[];
export declare function ensureBundled(root?: string): Promise<void>;
