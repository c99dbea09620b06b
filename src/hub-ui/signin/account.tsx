import { Button } from '../controls/button.tsx';
import { Icon, Mark } from '../controls/icons.tsx';
import { Notice } from '../controls/notice.tsx';
import { type Session, session } from '../hub/access.ts';
import './signin.css';

/** Who is signed in, and the way out. */
export function Account({ session: { name, signOut } }: { readonly session: Session }) {
  return (
    <div class="account">
      <div class="account-name" title={name}>
        <Icon name="user" />
        <span class="cut">{name}</span>
      </div>
      <button type="button" class="rail-link rail-button" title="Sign out" onClick={signOut}>
        <Icon name="lock" />
        <span>Sign out</span>
      </button>
    </div>
  );
}

/** What stands instead of the page, until somebody has signed in. */
export function SignIn({ session: { problem, signIn } }: { readonly session: Session }) {
  return (
    <main class="signin">
      <div class="signin-box">
        <Mark />
        <h1>Location hub</h1>
        <p class="soft">This hub shows itself to those whom it knows.</p>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        <Button kind="main" onClick={signIn}>
          Sign in
        </Button>
      </div>
    </main>
  );
}

/** Says that nothing more comes in, when a session could not be renewed. What is on the page stays. */
export function SessionEnded() {
  if (session.value?.state !== 'ended') return null;
  return (
    <div class="signin-ended" role="alert">
      <span>Your sign-in has ended.</span>
      <Button kind="main" onClick={session.value.signIn}>
        Sign in again
      </Button>
    </div>
  );
}
