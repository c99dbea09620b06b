/**
 * Colors of values, for as many as can be told apart: the eight were searched for so that any two are far apart for people who
 * see all colors, and for those who lack one of the three cones, and so that each stands out from the ground.
 */
export interface CategoryColors {
  readonly values: readonly string[];
  /** Of all values that are left over. */
  readonly other: string;
  /** Of what has no value. */
  readonly none: string;
}

export const LIGHT_CATEGORIES: CategoryColors = {
  values: ['#6c79fd', '#f25823', '#275c0f', '#b9046a', '#006d9b', '#6200a1', '#4e0800', '#000059'],
  other: '#7d8791',
  none: '#aeb6bd',
};

export const DARK_CATEGORIES: CategoryColors = {
  values: ['#9cbaf7', '#fa7c28', '#0cecb8', '#c868fa', '#f7db19', '#be2034', '#5a4fd8', '#e9fbff'],
  other: '#8a96a1',
  none: '#56616b',
};
