import type { Alert } from '../../model/alert.ts';
import { Button } from '../controls/button.tsx';
import { t } from '../languages/language.ts';
import { shortClockText, wholeText } from '../languages/times.ts';
import { isSnoozed } from './alert_store.ts';
import styles from './alerts.module.css';
import type { HandleFocus } from './handle_dialog.tsx';

/** Parts of a row about how people handle its alerts. */

const FOCUS_OF_KEY: Readonly<Record<string, HandleFocus>> = { s: 'snooze', m: 'assign', c: 'comment' };

/** Button that opens the dialog of a row. The keys S, M and C press it, with the part that gets the focus. */
export function HandleButton({
  title,
  onHandle,
}: {
  readonly title: string;
  readonly onHandle: (focus: HandleFocus) => void;
}) {
  return (
    <Button
      kind="quiet"
      icon="user"
      data-handle
      aria-label={t('Handle: {alert}', { alert: title })}
      title={t('Assign, snooze or comment')}
      onClick={({ currentTarget }) => {
        const { key = '' } = currentTarget.dataset;
        delete currentTarget.dataset['key'];
        onHandle(FOCUS_OF_KEY[key] ?? 'assign');
      }}
    >
      {t('Handle')}
    </Button>
  );
}

/** Assignees of alerts, and the end of their snooze. */
export function HandledFacts({ alerts }: { readonly alerts: readonly Alert[] }) {
  const names = new Set(alerts.flatMap(({ assignee }) => (assignee == null ? [] : [assignee])));
  const ends = alerts.flatMap((alert) => (isSnoozed(alert) ? [Date.parse(alert.snoozed_until ?? '')] : []));
  const untilMs = Math.max(...ends);
  return (
    <>
      {names.size > 0 && <span>{t('Assigned to {name}', { name: [...names].join(', ') })}</span>}
      {ends.length > 0 && (
        <time dateTime={new Date(untilMs).toISOString()} title={wholeText(untilMs)}>
          {t('Snoozed until {time}', { time: shortClockText(untilMs) })}
        </time>
      )}
    </>
  );
}

/** The last comment on an alert, and the number of earlier ones. */
export function LastComment({ alert: { comments } }: { readonly alert: Alert }) {
  const last = comments?.at(-1);
  if (last === undefined) return null;
  return <span class={styles.comment}>{last.author == null ? last.text : `${last.author}: ${last.text}`}</span>;
}
