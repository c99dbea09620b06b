import { t } from '../../languages/language.ts';
import styles from './timing_picture.module.css';
export type TimingPart =
  | 'entryTolerance'
  | 'entryToleranceTimeout'
  | 'entryDelay'
  | 'exitTolerance'
  | 'toleranceTimeout'
  | 'exitDelay'
  | 'silence';

interface PictureProps {
  /** Focused part of the diagram. */
  readonly part: TimingPart | undefined;
  /** Value in meters or milliseconds; undefined if not set. */
  readonly valueAt: (part: TimingPart) => number | undefined;
}

/** Ranges in which each value applies, along a path that crosses the fence from the left and then goes silent. */
const SPANS: readonly {
  readonly part: TimingPart;
  readonly from: number;
  readonly to: number;
  readonly label: string;
}[] = [
  { part: 'entryToleranceTimeout', from: 84, to: 112, label: t('in the band') },
  { part: 'entryDelay', from: 112, to: 160, label: t('entry delay') },
  { part: 'toleranceTimeout', from: 248, to: 276, label: t('in the band') },
  { part: 'exitDelay', from: 276, to: 326, label: t('exit delay') },
];

/** Diagram of a fence with its two bands, and a path through it. */
export function TimingPicture({ part, valueAt }: PictureProps) {
  const state = (own: TimingPart): string => {
    if (own === part) return 'chosen';
    return valueAt(own) === undefined ? 'unset' : 'set';
  };
  return (
    <svg class={styles.picture} viewBox="0 0 430 152" role="img" aria-label={t('A path through a fence and its bands')}>
      <rect class={styles.band} data-state={state('exitTolerance')} x="56" y="10" width="220" height="104" rx="12" />
      <rect class={styles.fence} x="84" y="26" width="164" height="72" rx="4" />
      <rect class={styles.inner} data-state={state('entryTolerance')} x="112" y="42" width="108" height="40" rx="3" />
      <Measure state={state('entryTolerance')} from={84} to={112} y={90} text={meters(valueAt('entryTolerance'))} />
      <Measure state={state('exitTolerance')} from={248} to={276} y={106} text={meters(valueAt('exitTolerance'))} />
      <path class={styles.way} d="M8 62 H404" />
      <circle class={styles.dot} cx="8" cy="62" r="4" />
      <g class={styles.silence} data-state={state('silence')}>
        <circle cx="186" cy="62" r="9" />
        <path d="M186 57 v5 l3.500 2.500" />
      </g>
      <text class={styles.label} data-state={state('silence')} x="166" y="38" text-anchor="middle">
        {seconds(valueAt('silence'), 'silent')}
      </text>
      {SPANS.map(({ part: own, from, to, label }, i) => (
        <g key={own} class={styles.span} data-state={state(own)}>
          <path d={`M${from} ${124 + (i % 2) * 18} v-5 m0 2.500 H${to} m0 -2.500 v5`} />
          <text x={to + 5} y={126 + (i % 2) * 18}>
            {seconds(valueAt(own), label)}
          </text>
        </g>
      ))}
    </svg>
  );
}

function Measure({
  state,
  from,
  to,
  y,
  text,
}: {
  readonly state: string;
  readonly from: number;
  readonly to: number;
  readonly y: number;
  readonly text: string;
}) {
  return (
    <g class={styles.span} data-state={state}>
      <path d={`M${from} ${y - 3} v6 m0 -3 H${to} m0 -3 v6`} />
      <text x={(from + to) / 2} y={y - 5} text-anchor="middle">
        {text}
      </text>
    </g>
  );
}

function meters(value: number | undefined): string {
  return value === undefined ? '' : `${value} m`;
}

function seconds(value: number | undefined, label: string): string {
  if (value === undefined) return label;
  return value === -1 ? `${label}: ∞` : `${label}: ${value / 1000} s`;
}
