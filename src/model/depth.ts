/** Maximum nesting of a value from JSON, unless the configuration sets a lower one. */
export const DEPTH_MAX = 200;
