import styles from './sparkline.module.css';

interface SparklineProps {
  /** Count from each time on, in chronological order. */
  readonly steps: readonly { readonly atMs: number; readonly count: number }[];
  readonly range: readonly [number, number];
}

const WIDTH = 200;
const HEIGHT = 28;

/** Small step chart without axes that shows when and how much a count has changed. */
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
