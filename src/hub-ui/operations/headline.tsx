import { Badge, type Tone } from '../controls/badge.tsx';
import typography from '../controls/typography.module.css';
import styles from './headline.module.css';

/** Headline with a state as a word and a sentence. */
export function Headline({
  tone,
  label,
  meaning,
}: {
  readonly tone: Tone;
  readonly label: string;
  readonly meaning: string;
}) {
  return (
    <>
      <p class={styles.headline}>
        <Badge tone={tone} dot>
          {label}
        </Badge>
      </p>
      <p class={`${typography.soft} ${styles.meaning}`}>{meaning}</p>
    </>
  );
}
