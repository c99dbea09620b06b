import { isDark } from '../../controls/theme.ts';
import { type CategoryColors, DARK_CATEGORIES, LIGHT_CATEGORIES } from './color_by.ts';

const LIGHT = {
  /** Land, and the background of a site. */
  ground: '#f2f4f5',
  water: '#d7e2ea',
  coast: '#a9bccb',
  border: 'rgb(18 24 30 / 0.16)',
  country: 'rgb(69 81 92 / 0.75)',
  place: '#45515c',
  placeHalo: 'rgb(242 244 245 / 0.85)',
  green: '#e3ece2',
  road: '#ffffff',
  roadEdge: '#d5dbe0',
  building: '#e6e9ec',
  buildingEdge: '#d3d9de',
  grid: 'rgb(18 24 30 / 0.045)',
  gridStrong: 'rgb(18 24 30 / 0.09)',
  ink: '#12181e',
  halo: 'rgb(255 255 255 / 0.9)',
  trackable: '#0b6e66',
  provider: '#5d6974',
  unassigned: '#7a3db8',
  zone: '#5d6974',
  zoneFill: 'rgb(93 105 116 / 0.07)',
  proximity: '#8a5200',
  proximityFill: 'rgb(138 82 0 / 0.08)',
  fence: '#1c5fb8',
  fenceFill: 'rgb(28 95 184 / 0.09)',
  entry: '#0f8f5a',
  exit: '#5d6974',
  critical: '#c8281e',
  warning: '#9a5a00',
  selected: '#c2185b',
  cluster: '#0b6e66',
  clusterInk: '#ffffff',
};

/** Colors of everything drawn on a canvas, which style sheets do not reach. */
export type Palette = Readonly<Record<keyof typeof LIGHT, string>>;

const DARK: Palette = {
  ground: '#0f1317',
  water: '#0a1a24',
  coast: '#2b4252',
  border: 'rgb(233 237 240 / 0.15)',
  country: 'rgb(179 189 198 / 0.6)',
  place: '#a7b2bc',
  placeHalo: 'rgb(15 19 23 / 0.85)',
  green: '#101c19',
  road: '#252d35',
  roadEdge: '#1a2128',
  building: '#181e24',
  buildingEdge: '#262e36',
  grid: 'rgb(233 237 240 / 0.035)',
  gridStrong: 'rgb(233 237 240 / 0.075)',
  ink: '#e9edf0',
  halo: 'rgb(15 19 23 / 0.9)',
  trackable: '#3bd0bd',
  provider: '#a2adb8',
  unassigned: '#c39bff',
  zone: '#8a96a1',
  zoneFill: 'rgb(138 150 161 / 0.07)',
  proximity: '#f2b65c',
  proximityFill: 'rgb(242 182 92 / 0.09)',
  fence: '#79b1ff',
  fenceFill: 'rgb(121 177 255 / 0.10)',
  entry: '#4cd68f',
  exit: '#a2adb8',
  critical: '#ff6b60',
  warning: '#ffb454',
  selected: '#ff7ab0',
  cluster: '#3bd0bd',
  clusterInk: '#04231f',
};

/** Severities of alerts that the map shows, each in the color of its name. */
export type AlarmSeverity = 'critical' | 'warning';

/** Palette of the current theme; reads a signal. */
export function palette(): Palette {
  return isDark() ? DARK : LIGHT;
}

/** Category colors of the current theme; reads a signal. */
export function categoryColors(): CategoryColors {
  return isDark() ? DARK_CATEGORIES : LIGHT_CATEGORIES;
}
