import styles from './sparkline.module.css';

interface SparklineProps {
  /** From when on which count; in the order of time. */
  readonly steps: readonly { readonly atMs: number; readonly count: number }[];
  readonly range: readonly [number, number];
}

const WIDTH = 200;
const HEIGHT = 28;

/** A small line of steps without axes: whether much has changed, and when. */
export function Sparkline({ steps, range: [fromMs, toMs] }: SparklineProps) {
  const most = Math.max(1, ...steps.map(({ count }) => count));
  const x = (ms: number): string => (((Math.max(ms, fromMs) - fromMs) / (toMs - fromMs)) * WIDTH).toFixed(1);
  const y = (count: number): string => (HEIGHT - 1 - (count / most) * (HEIGHT - 3)).toFixed(1);
  const firstSeen = Math.max(
    0,
    steps.findLastIndex(({ atMs }) => atMs <= fromMs),
  );
  const [first, ...others] = steps.slice(firstSeen);
  if (first === undefined) return <svg class={styles.spark} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" />;
  const line = others.map(({ atMs, count }) => `H${x(atMs)}V${y(count)}`).join('');
  const path = `M${x(first.atMs)} ${y(first.count)}${line}H${WIDTH}`;
  return (
    <svg class={styles.spark} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class={styles.area} d={`${path}V${HEIGHT}H${x(first.atMs)}Z`} />
      <path d={path} />
    </svg>
  );
}
