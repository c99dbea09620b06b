import type { ComponentChildren } from 'preact';
import { Sparkline } from '../charts/sparkline.tsx';
import { Link } from '../controls/link.tsx';
import type { Sample } from './samples.ts';
import styles from './tile.module.css';

interface TileProps {
  readonly name: string;
  /** The figure; undefined until it has loaded. */
  readonly value: ComponentChildren | undefined;
  /** Reference of the figure, in a few words. */
  readonly about?: ComponentChildren;
  /** Page that lists what the figure counts. */
  readonly href: string;
  /** Past values, in chronological order. Without two of them, there is no sparkline. */
  readonly steps?: readonly Sample[] | undefined;
  readonly range?: readonly [fromMs: number, toMs: number];
  readonly tone?: 'danger' | 'warn' | undefined;
}

/** A figure with its past as a sparkline; a link to its details. */
export function Tile({ name, value, about, href, steps = [], range, tone }: TileProps) {
  return (
    <li class={styles.item}>
      <Link href={href} class={styles.tile} data-tone={tone}>
        <span class={styles.name}>{name}</span> <strong class={styles.value}>{value ?? '…'}</strong>{' '}
        <span class={styles.about}>{about}</span>
        <span class={styles.past}>{steps.length > 1 && range && <Sparkline steps={steps} range={range} />}</span>
      </Link>
    </li>
  );
}
