import { Button } from '../controls/button.tsx';
import { Mark } from '../controls/icons.tsx';
import { Notice } from '../controls/notice.tsx';
import typography from '../controls/typography.module.css';
import { type Session, session } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import styles from './sign_in.module.css';

/** Sign-in screen, shown in place of the page. */
export function SignIn({ session: { problem, signIn } }: { readonly session: Session }) {
  return (
    <main class={styles.page}>
      <div class={styles.box}>
        <Mark />
        <h1>{t('Location hub')}</h1>
        <p class={typography.soft}>{t('Sign in to see this hub.')}</p>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        <Button kind="main" onClick={signIn}>
          {t('Sign in')}
        </Button>
      </div>
    </main>
  );
}

/** Notice that the session has expired and updates have stopped. The page stays visible. */
export function SessionEnded() {
  if (session.value?.state !== 'ended') return null;
  return (
    <div class={styles.ended} role="alert">
      <span>{t('Your session has ended.')}</span>
      <Button kind="main" onClick={session.value.signIn}>
        {t('Sign in again')}
      </Button>
    </div>
  );
}
