import type { AuditEntry } from '../../model/audit.ts';
import { Disclosure } from '../controls/disclosure.tsx';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import styles from './audit_page.module.css';

/** Number of operations that are displayed without expanding. */
const SHORT = 3;

/** Changed members of an entry, or the query of a read. */
export function Difference({ entry }: { readonly entry: AuditEntry }) {
  const { action, patch = [], read, erasure } = entry;
  if (action === 'update') {
    if (patch.length <= SHORT) return <Operations patch={patch} />;
    return (
      <Disclosure title={t('{count} changed members', { count: countText(patch.length) })}>
        <Operations patch={patch} />
      </Disclosure>
    );
  }
  const [whole] = patch;
  const details = read ?? erasure ?? (action === 'create' ? whole?.value : undefined);
  if (details === undefined) return null;
  return (
    <Disclosure title={t('Details')}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs keyboard focus */}
      <pre class={styles.json} tabIndex={0}>
        {JSON.stringify(details, null, 2)}
      </pre>
    </Disclosure>
  );
}

function Operations({ patch }: { readonly patch: NonNullable<AuditEntry['patch']> }) {
  return (
    <ul class={styles.operations}>
      {patch.map(({ op, path, value }) => (
        <li key={path}>
          <code>{path === '' ? '/' : path}</code>{' '}
          {op === 'remove' ? <del>{t('removed')}</del> : <span class={styles.value}>{JSON.stringify(value)}</span>}
        </li>
      ))}
    </ul>
  );
}
