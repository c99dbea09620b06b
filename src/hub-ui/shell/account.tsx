import { Icon } from '../controls/icons.tsx';
import typography from '../controls/typography.module.css';
import type { Session } from '../hub/access.ts';
import styles from './layout.module.css';

/** Who is signed in, and the way out. */
export function Account({ session: { name, signOut } }: { readonly session: Session }) {
  return (
    <div class={styles.account}>
      <div class={styles.accountName} title={name}>
        <Icon name="user" />
        <span class={typography.cut}>{name}</span>
      </div>
      <button type="button" class={`${styles.link} ${styles.button}`} title="Sign out" onClick={signOut}>
        <Icon name="lock" />
        <span>Sign out</span>
      </button>
    </div>
  );
}
