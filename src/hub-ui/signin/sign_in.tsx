import { useState } from 'preact/hooks';
import { Button } from '../controls/button.tsx';
import { TextField } from '../controls/field.tsx';
import { Mark } from '../controls/icons.tsx';
import { Notice } from '../controls/notice.tsx';
import typography from '../controls/typography.module.css';
import { type Session, session } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import styles from './sign_in.module.css';

/** Sign-in screen, shown in place of the page. */
export function SignIn({ session: { problem, signIn, signInByKey } }: { readonly session: Session }) {
  return (
    <main class={styles.page}>
      <div class={styles.box}>
        <Mark />
        <h1>{t('Location hub')}</h1>
        <p class={typography.soft}>{t('Sign in to see this hub.')}</p>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        {signInByKey === undefined ? (
          <Button kind="main" onClick={signIn}>
            {t('Sign in')}
          </Button>
        ) : (
          <KeyForm onEnter={signInByKey} />
        )}
      </div>
    </main>
  );
}

/** Form for an API key, on a hub without an identity server. */
function KeyForm({ onEnter }: { readonly onEnter: (key: string) => Promise<void> }) {
  const [key, setKey] = useState('');
  const [isBusy, setBusy] = useState(false);
  const enter = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    await onEnter(key.trim());
    setBusy(false);
  };
  return (
    <form class={styles.key} onSubmit={(event) => void enter(event)}>
      <TextField
        label={t('API key')}
        type="password"
        autocomplete="current-password"
        spellcheck={false}
        value={key}
        onInput={setKey}
      />
      <Button kind="main" type="submit" disabled={isBusy || key.trim() === ''}>
        {t('Sign in')}
      </Button>
    </form>
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
