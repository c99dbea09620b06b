import { useState } from 'preact/hooks';
import { Button, IconButton } from '../../controls/button.tsx';
import { Icon } from '../../controls/icons.tsx';
import styles from './tile_trouble.module.css';

/** Says that the map tiles of the configuration cannot be had, until somebody has read it. */
export function TileTrouble({ problem, onRetry }: { readonly problem: string; readonly onRetry: () => void }) {
  const [isRead, setRead] = useState(false);
  if (isRead) return null;
  return (
    <div class={styles.trouble} role="alert">
      <Icon name="warning" />
      <p>
        <strong>There are no map tiles.</strong> <span>{`${problem}.`}</span>{' '}
        <span>The map shows the world in their place.</span>
      </p>
      <Button kind="quiet" onClick={onRetry}>
        Try again
      </Button>
      <IconButton icon="close" label="Close" onClick={() => setRead(true)} />
    </div>
  );
}
