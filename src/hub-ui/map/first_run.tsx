import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button, ButtonLink } from '../controls/button.tsx';
import { Icon, type IconName, Mark } from '../controls/icons.tsx';
import { Link } from '../controls/link.tsx';
import { toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { startDemo } from '../hub/demo.ts';
import { whyNoDemo } from '../hub/rights.ts';
import { storeOf } from '../hub/stores.ts';
import styles from './first_run.module.css';

/** What to do with a hub that knows nothing yet. Nothing is shown once it does. */
export function FirstRun() {
  const stores = [storeOf('zones'), storeOf('fences'), storeOf('trackables'), storeOf('providers')];
  // Who may not set up anything has no first steps to take.
  if (!can('CREATE', '/zones')) return null;
  const isEmpty = stores.every(({ state, items }) => state.value === 'ready' && items.value.size === 0);
  if (!isEmpty) return null;
  return (
    <section class={styles.steps} aria-label="First steps">
      <div class={styles.head}>
        <Mark />
        <div>
          <h1>Nothing here yet</h1>
          <p class={typography.soft}>This map shows what moves, as soon as the hub hears of it.</p>
        </div>
      </div>
      <ol>
        <Step icon="frame" title="Draw your site" about="Click the corners of the area in which you locate things.">
          <ButtonLink kind="main" href="/zones/new?start=area">
            Draw it
          </ButtonLink>
        </Step>
        <Step icon="upload" title="Load a floor plan" about="Lay an image of your floor on the map, and measure in it.">
          <ButtonLink href="/zones/new?start=plan">Choose a plan</ButtonLink>
        </Step>
        <Step icon="play" title="See the demo" about="A warehouse with 40 tags and 12 fences, until you stop it.">
          <StartDemo />
        </Step>
      </ol>
      <p class={`${typography.soft} ${styles.else}`}>
        <Link href="/lists">Import a file</Link>, or send a position: every provider is created with its first one, as
        the <a href="/hub/docs">API pages</a> tell.
      </p>
    </section>
  );
}

function Step(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly about: string;
  readonly children: ComponentChildren;
}) {
  return (
    <li>
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      <p class={typography.soft}>{props.about}</p>
      {props.children}
    </li>
  );
}

function StartDemo() {
  const [isStarting, setStarting] = useState(false);
  const start = async (): Promise<void> => {
    setStarting(true);
    try {
      await startDemo();
    } catch (error) {
      toastError(error);
      setStarting(false);
    }
  };
  return (
    <Button disabled={isStarting} off={whyNoDemo()} onClick={() => void start()}>
      {isStarting ? 'Starting the demo' : 'Start the demo'}
    </Button>
  );
}
