import { Mark } from '../controls/icons.tsx';
import { Link } from '../controls/link.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { storeOf } from '../hub/stores.ts';
import styles from './first_run.module.css';

/** The command that feeds this hub, wherever it is: by itself it takes the one that is set up where it runs. */
function demoCommand(): string {
  const { port, origin } = location;
  return port === '8081' ? 'npm run demo' : `npm run demo -- --hub ${origin}`;
}

/** What to do with a hub that knows nothing yet. Nothing is shown once it does. */
export function FirstRun() {
  const stores = [storeOf('zones'), storeOf('fences'), storeOf('trackables'), storeOf('providers')];
  // Who may not set up anything has no first steps to take.
  if (!can('CREATE', '/zones')) return null;
  const isEmpty = stores.every(({ state, items }) => state.value === 'ready' && items.value.size === 0);
  if (!isEmpty) return null;
  return (
    <section class={styles.steps} aria-label="First steps">
      <Mark />
      <h1>Nothing here yet</h1>
      <p class={typography.soft}>This map shows what moves, as soon as the hub hears of it.</p>
      <ol>
        <li>
          <h2>See the demo site</h2>
          <p class={typography.soft}>
            A simulated warehouse with 40 tags and 12 fences. In a terminal beside the hub's:
          </p>
          <code class={styles.command}>{demoCommand()}</code>
        </li>
        <li>
          <h2>Or set up your own</h2>
          <p class={typography.soft}>
            Begin with a <Link href="/zones">zone</Link>: where a locating system measures. Then draw{' '}
            <Link href="/fences">fences</Link>, and give <Link href="/trackables">trackables</Link> their providers.
          </p>
        </li>
        <li>
          <h2>Or send a position</h2>
          <p class={typography.soft}>
            Every provider is created with its first one: see the <a href="/hub/docs">API pages</a>.
          </p>
        </li>
      </ol>
    </section>
  );
}
