import type { JSX } from 'preact';
import styles from './legend.module.css';
import { type Palette, palette } from './palette.ts';

/** A sign of the map, drawn in a box of 24 by 16, and what it means. */
type Row = readonly [sign: JSX.Element, meaning: string];

/** What the signs and colors of the live map mean. */
export function Legend() {
  const rows = rowsIn(palette());
  return (
    <details class={styles.legend}>
      <summary>Legend</summary>
      <dl>
        {rows.map(([sign, meaning]) => (
          <div key={meaning}>
            <dt>
              <svg viewBox="0 0 24 16" width="24" height="16" aria-hidden="true">
                {sign}
              </svg>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function rowsIn(colors: Palette): readonly Row[] {
  const area = { x: 2, y: 2, width: 20, height: 12 };
  const ring = { cx: 12, cy: 8, fill: 'none', 'stroke-width': 2.5 };
  return [
    [
      <circle key="sign" cx="12" cy="8" r="5" fill={colors.trackable} />,
      'Trackable; the tip points where it is heading',
    ],
    [<circle key="sign" {...ring} r="3.5" stroke={colors.provider} stroke-width="1.75" />, 'Provider, such as a tag'],
    [
      <circle key="sign" cx="12" cy="8" r="5" fill={colors.trackable} opacity="0.4" />,
      'Faint: silent for more than 15 s',
    ],
    [
      <g key="sign">
        <circle cx="12" cy="8" r="8" fill={colors.cluster} />
        <text x="12" y="11" text-anchor="middle" font-size="8" font-weight="600" fill={colors.clusterInk}>
          24
        </text>
      </g>,
      'This many close together; click to zoom in',
    ],
    [<circle key="sign" {...ring} r="6" stroke={colors.danger} />, 'Red ring: colliding'],
    [<circle key="sign" {...ring} r="6" stroke={colors.selected} />, 'Pink ring or edge: selected'],
    [
      <rect key="sign" {...area} fill={colors.fenceFill} stroke={colors.fence} stroke-width="1.5" />,
      'Blue edge: fence',
    ],
    [
      <rect key="sign" {...area} fill={`${colors.entry}1c`} stroke={colors.entry} stroke-width="3" />,
      'Green edge: something has just entered',
    ],
    [
      <rect key="sign" {...area} fill={`${colors.exit}1c`} stroke={colors.exit} stroke-width="3" />,
      'Amber edge: something has just left',
    ],
    [
      <rect key="sign" {...area} fill={colors.zoneFill} stroke={colors.zone} stroke-dasharray="5 3" />,
      'Dashed edge: zone',
    ],
    [
      <circle
        key="sign"
        cx="12"
        cy="8"
        r="7"
        fill={colors.proximityFill}
        stroke={colors.proximity}
        stroke-dasharray="2 3"
      />,
      'Dotted circle: proximity zone',
    ],
  ];
}
