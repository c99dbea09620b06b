import type { JSX } from 'preact';
import typography from '../../controls/typography.module.css';
import { storeOf } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { countText } from '../../languages/numbers.ts';
import type { LayerSymbol } from '../../map/objects/sprites.ts';
import { groupCounts } from '../../map/objects/use_groups.ts';
import { colorOfGroup, fenceGroups } from '../../map/site/fence_colors.ts';
import { type ColorBy, coloringTitle, OTHER } from '../../map/view/color_by.ts';
import { colorByFromUrl, fencesByFromUrl, type LayerName } from '../../map/view/map_url.ts';
import { categoryColors, type Palette, palette } from '../../map/view/palette.ts';
import styles from './legend.module.css';

/**
 * Row of the legend: a symbol of 24 by 16 pixels, its meaning, and whether the wall view shows it, since it depends on the
 * current state.
 */
type Row = readonly [sign: JSX.Element, meaning: string, isOfNow?: boolean];

/** Screens up to this width show the legend only on request. */
const NARROW_PIXELS = 720;

/** Legend of the live map. It is initially open if objects are colored by value. */
export function Legend({ layers }: { readonly layers: ReadonlySet<LayerName> }) {
  const by = colorByFromUrl();
  const signs = (
    <dl>
      {rowsIn(palette()).map(([sign, meaning]) => (
        <LegendRow key={meaning} sign={sign} meaning={meaning} />
      ))}
    </dl>
  );
  const fencesBy = fencesByFromUrl();
  if (by === 'state' && fencesBy === undefined) {
    return (
      <details class={styles.legend}>
        <summary>{t('Legend')}</summary>
        {signs}
      </details>
    );
  }
  return (
    <details key={`${by} ${fencesBy}`} class={styles.legend} open={innerWidth > NARROW_PIXELS}>
      <summary>{t('Legend')}</summary>
      {by !== 'state' && <ColorLegend by={by} layers={layers} />}
      {fencesBy !== undefined && layers.has('fences') && <FenceLegend by={fencesBy} />}
      <details class={styles.signs}>
        <summary>{t('Signs')}</summary>
        {signs}
      </details>
    </details>
  );
}

/** Legend of the wall view, always open: color values, and symbols of the current state. */
export function WallLegend({ layers }: { readonly layers: ReadonlySet<LayerName> }) {
  const by = colorByFromUrl();
  return (
    <section class={styles.wall} aria-label={t('Legend')}>
      {by !== 'state' && <ColorLegend by={by} layers={layers} />}
      <dl>
        {rowsIn(palette())
          .filter(([, , isOfNow]) => isOfNow === true)
          .map(([sign, meaning]) => (
            <LegendRow key={meaning} sign={sign} meaning={meaning} />
          ))}
      </dl>
    </section>
  );
}

/** Legend of the color values, with the number of objects of each. */
function ColorLegend({ by, layers }: { readonly by: ColorBy; readonly layers: ReadonlySet<LayerName> }) {
  const symbols = [
    { symbol: 'trackable', groups: groupCounts.trackable.value, isOn: layers.has('trackables') },
    { symbol: 'provider', groups: groupCounts.provider.value, isOn: layers.has('providers') },
  ] as const;
  return (
    <>
      {symbols
        .filter(({ isOn, groups }) => isOn && groups.length > 0)
        .map(({ symbol, groups }) => (
          <section key={symbol} class={styles.colors} aria-label={coloringTitle(by, symbol)}>
            <h2 class={typography.caption}>{coloringTitle(by, symbol)}</h2>
            <dl>
              {groups.map(({ group, value, count }) => (
                <LegendRow
                  key={group}
                  sign={<Dot symbol={symbol} group={group} />}
                  meaning={value ?? (group === OTHER ? t('Other values') : t('Without a value'))}
                  count={count}
                />
              ))}
            </dl>
          </section>
        ))}
    </>
  );
}

/** Legend of the values of a property of the fences, with the number of fences of each. */
function FenceLegend({ by }: { readonly by: string }) {
  const groups = fenceGroups([...storeOf('fences').items.value.values()], by);
  const title = t('Fences by “{name}”', { name: by });
  return (
    <section class={styles.colors} aria-label={title}>
      <h2 class={typography.caption}>{title}</h2>
      <dl>
        {groups.map(({ value, group, count }) => {
          const color = colorOfGroup(group, categoryColors());
          return (
            <LegendRow
              key={group}
              sign={<rect x="2" y="2" width="20" height="12" fill={`${color}33`} stroke={color} stroke-width="1.5" />}
              meaning={value ?? (group === OTHER ? t('Other values') : t('Without a value'))}
              count={count}
            />
          );
        })}
      </dl>
    </section>
  );
}

function Dot({ symbol, group }: { readonly symbol: LayerSymbol; readonly group: number }) {
  const { values, other, none } = categoryColors();
  const color = [...values, other, none][group - 1];
  if (symbol === 'trackable') return <circle cx="12" cy="8" r="5.5" fill={color} />;
  return <circle cx="12" cy="8" r="4" fill="none" stroke={color} stroke-width="2" />;
}

function LegendRow({
  sign,
  meaning,
  count,
}: {
  readonly sign: JSX.Element;
  readonly meaning: string;
  readonly count?: number;
}) {
  return (
    <div>
      <dt>
        <svg viewBox="0 0 24 16" width="24" height="16" aria-hidden="true">
          {sign}
        </svg>
      </dt>
      <dd>{meaning}</dd>
      {count !== undefined && <dd class={styles.count}>{countText(count)}</dd>}
    </div>
  );
}

function rowsIn(colors: Palette): readonly Row[] {
  const area = { x: 2, y: 2, width: 20, height: 12 };
  const ring = { cx: 12, cy: 8, fill: 'none', 'stroke-width': 2.5 };
  return [
    [
      <circle key="sign" cx="12" cy="8" r="5" fill={colors.trackable} />,
      t('Trackable; the tip points where it is heading'),
    ],
    [
      <circle key="sign" {...ring} r="3.5" stroke={colors.provider} stroke-width="1.75" />,
      t('Provider, such as a tag'),
    ],
    [
      <path
        key="sign"
        d="M12 3l5 5-5 5-5-5z"
        fill="none"
        stroke={colors.unassigned}
        stroke-width="1.75"
        stroke-linejoin="round"
      />,
      t('Violet diamond: provider that belongs to no trackable'),
    ],
    [
      <circle key="sign" cx="12" cy="8" r="5" fill={colors.trackable} opacity="0.4" />,
      t('Faint: silent for more than 15 s'),
      true,
    ],
    [
      <g key="sign">
        <circle cx="12" cy="8" r="8" fill={colors.cluster} />
        <text x="12" y="11" text-anchor="middle" font-size="8" font-weight="600" fill={colors.clusterInk}>
          24
        </text>
      </g>,
      t('Cluster of nearby objects; click to zoom in'),
    ],
    [<circle key="sign" {...ring} r="6" stroke={colors.critical} />, t('Red ring or edge: critical alert'), true],
    [<circle key="sign" {...ring} r="6" stroke={colors.warning} />, t('Amber ring or edge: warning'), true],
    [
      <path key="sign" d="M9 5l6 6m0-6l-6 6" stroke={colors.critical} stroke-width="2" stroke-linecap="round" />,
      t('Red cross: colliding'),
      true,
    ],
    [<circle key="sign" {...ring} r="6" stroke={colors.selected} />, t('Pink ring or edge: selected')],
    [
      <rect key="sign" {...area} fill={colors.fenceFill} stroke={colors.fence} stroke-width="1.5" />,
      t('Blue edge: fence'),
    ],
    [
      <rect key="sign" {...area} fill={colors.fenceFill} stroke={colors.entry} stroke-width="3" />,
      t('Green edge: recent entry'),
      true,
    ],
    [
      <rect key="sign" {...area} fill={colors.fenceFill} stroke={colors.exit} stroke-width="3" />,
      t('Gray edge: recent exit'),
      true,
    ],
    [<rect key="sign" {...area} fill={colors.building} />, t('Gray fill: building')],
    [
      <rect key="sign" {...area} fill={colors.zoneFill} stroke={colors.zone} stroke-dasharray="5 3" />,
      t('Dashed edge: zone'),
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
      t('Dotted circle: proximity zone'),
    ],
  ];
}
