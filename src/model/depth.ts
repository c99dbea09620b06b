/** Levels that a value from JSON may be nested, unless the configuration says fewer. */
export const DEPTH_MAX = 200;
