import { useEffect, useState } from 'preact/hooks';
import { demoTag, isDemoId, LAST_DEMO_MEMBER } from '../../model/demo_id.ts';
import { Button } from '../controls/button.tsx';
import { toastError } from '../controls/toasts.tsx';
import { can } from '../hub/access.ts';
import { demo, loadDemo, startDemo, stopDemo } from '../hub/demo.ts';
import { subscribe } from '../hub/live.ts';
import { whyNoDemo, whyNoEndOfDemo } from '../hub/rights.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { isWallFromUrl } from '../map/view/map_url.ts';
import styles from './demo_note.module.css';

/** Silence after which the demo counts as stopped; its tags send ten locations per second. */
const SILENCE_MS = 5_000;

/**
 * Bar above the map that marks the data as simulated and stops the simulation. Hidden on a hub without the demo site, and in
 * the wall view.
 */
export function DemoNote() {
  const hasEntities = [...useEntities('zones').keys()].some(isDemoId) && !isWallFromUrl();
  const receivesDemo = useReceivesDemo(hasEntities);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    // Other parts of the page report a hub that does not respond.
    if (hasEntities && can('READ', '/demo')) void loadDemo().catch(() => undefined);
  }, [hasEntities]);
  const { state } = demo.value ?? {};
  if (!hasEntities || state === undefined) return null;
  const isRunning = state === 'running' || state === 'starting';
  const act = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    await work().catch(toastError);
    setBusy(false);
  };
  return (
    <section class={styles.note} aria-label={t('Demo')}>
      <span>
        {isRunning
          ? t('The demo is running.')
          : receivesDemo
            ? t('A demo that was started outside of this hub is running.')
            : t('The demo site is loaded, but the demo is not running.')}
      </span>
      {!isRunning && !receivesDemo && can('CREATE', '/demo') && (
        <Button disabled={isBusy} off={whyNoDemo()} onClick={() => void act(() => startDemo({ isBeside: true }))}>
          {t('Start the demo')}
        </Button>
      )}
      {can('DELETE', '/demo') && (isRunning || !receivesDemo) && (
        <Button disabled={isBusy} off={whyNoEndOfDemo()} onClick={() => void act(stopDemo)}>
          {isRunning ? t('Stop and remove the demo') : t('Remove the demo site')}
        </Button>
      )}
    </section>
  );
}

/** Whether the hub receives locations of the demo, from itself or from another process. */
function useReceivesDemo(hasEntities: boolean): boolean {
  const [receivesDemo, setReceivesDemo] = useState(false);
  useEffect(() => {
    if (!hasEntities) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const leave = subscribe(
      'location_updates',
      { provider_id: demoTag(LAST_DEMO_MEMBER) },
      {
        events() {
          setReceivesDemo(true);
          clearTimeout(timer);
          timer = setTimeout(() => setReceivesDemo(false), SILENCE_MS);
        },
      },
    );
    return () => {
      clearTimeout(timer);
      setReceivesDemo(false);
      leave();
    };
  }, [hasEntities]);
  return receivesDemo;
}
