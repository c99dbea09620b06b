import { useEffect, useState } from 'preact/hooks';
import { isDemoId } from '../../model/demo_id.ts';
import { Button } from '../controls/button.tsx';
import { toastError } from '../controls/toasts.tsx';
import { can } from '../hub/access.ts';
import { demo, lookAtDemo, startDemo, stopDemo } from '../hub/demo.ts';
import { whyNoDemo, whyNoEndOfDemo } from '../hub/rights.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import styles from './demo_note.module.css';

/** Says on the map that what moves is made up, and ends it. Nothing where the hub has no site of the demo. */
export function DemoNote() {
  const isThere = [...useEntities('zones').keys()].some(isDemoId);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    // A hub that does not answer says so elsewhere.
    if (isThere && can('READ', '/demo')) void lookAtDemo().catch(() => undefined);
  }, [isThere]);
  const { state } = demo.value ?? {};
  if (!isThere || state === undefined) return null;
  const isRunning = state === 'running' || state === 'starting';
  const act = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    await work().catch(toastError);
    setBusy(false);
  };
  return (
    <section class={styles.note} aria-label={t('Demo')}>
      <span>{isRunning ? t('The demo is running.') : t('This is the site of the demo, which does not run here.')}</span>
      {!isRunning && (
        <Button disabled={isBusy} off={whyNoDemo()} onClick={() => void act(() => startDemo({ isBeside: true }))}>
          {t('Start it')}
        </Button>
      )}
      <Button disabled={isBusy} off={whyNoEndOfDemo()} onClick={() => void act(stopDemo)}>
        {isRunning ? t('Stop and remove it') : t('Remove it')}
      </Button>
    </section>
  );
}
