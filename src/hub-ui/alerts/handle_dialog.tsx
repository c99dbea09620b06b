import { useEffect, useRef, useState } from 'preact/hooks';
import type { Alert, AlertComment } from '../../model/alert.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { AreaField, SelectField, TextField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { inputText, inputTime, startOfDay, wholeText } from '../languages/times.ts';
import { alerts as allAlerts, isSnoozed } from './alert_store.ts';
import { assign, comment, endSnoozes, ownName, rememberOwnName, snooze, type SnoozeSubject } from './alert_triage.ts';
import styles from './handle_dialog.module.css';

/** Part of the dialog that has the focus when it opens. */
export type HandleFocus = 'assign' | 'snooze' | 'comment';

/** Alerts to handle: one, or the open ones of a group. */
export interface Handled {
  readonly title: string;
  readonly alerts: readonly Alert[];
  readonly subject: SnoozeSubject;
  readonly focus: HandleFocus;
}

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000] as const;

/** Hour of the day at which "until tomorrow" ends. */
const MORNING_HOUR = 6;

const SNOOZES = [
  { value: '15min', label: t('15 minutes') },
  { value: '1h', label: t('1 hour') },
  { value: '4h', label: t('4 hours') },
  { value: 'tomorrow', label: t('Until tomorrow, 6:00') },
  { value: 'time', label: t('Until a time') },
] as const;

/** Dialog that assigns alerts, snoozes them and comments on them. */
export function HandleDialog({ title, alerts, subject, focus, onClose }: Handled & { readonly onClose: () => void }) {
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    body.current?.querySelector<HTMLElement>(`[data-part="${focus}"] :is(input, select, textarea)`)?.focus();
  }, [focus]);
  // The alerts as they are now, since other users may handle them, too.
  const current = alerts.flatMap(({ id }) => allAlerts.value.get(id) ?? []);
  const closeIf = (isDone: boolean): void => {
    if (isDone) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} foot={<Button onClick={onClose}>{t('Close')}</Button>}>
      <div ref={body} class={flow.stack}>
        <AssignPart alerts={current} onDone={closeIf} />
        {can('CREATE', '/alerts/snoozes') && <SnoozePart alerts={current} subject={subject} onDone={closeIf} />}
        <CommentPart alerts={current} onDone={closeIf} />
      </div>
    </Dialog>
  );
}

interface PartProps {
  readonly alerts: readonly Alert[];
  readonly onDone: (isDone: boolean) => void;
}

function AssignPart({ alerts, onDone }: PartProps) {
  const [name, setName] = useState(alerts.find(({ assignee }) => assignee != null)?.assignee ?? ownName.value);
  const isAssigned = alerts.some(({ assignee }) => assignee != null);
  const submit = async (): Promise<void> => {
    if (ownName.value === '') rememberOwnName(name.trim());
    onDone(await assign(alerts, name.trim()));
  };
  return (
    <form
      class={styles.part}
      data-part="assign"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') void submit();
      }}
    >
      <TextField label={t('Assign to')} value={name} maxLength={100} autoComplete="name" onInput={setName} />
      <Button type="submit" disabled={name.trim() === ''}>
        {t('Assign')}
      </Button>
      {isAssigned && (
        <Button kind="quiet" onClick={() => void assign(alerts, '').then(onDone)}>
          {t('Unassign')}
        </Button>
      )}
    </form>
  );
}

function SnoozePart({ alerts, subject, onDone }: PartProps & { readonly subject: SnoozeSubject }) {
  const [length, setLength] = useState<(typeof SNOOZES)[number]['value']>('1h');
  const [time, setTime] = useState(() => inputText(Date.now() + HOUR_MS).slice(0, 16));
  const untilMs = endOf(length, time);
  const isSet = alerts.some(isSnoozed);
  return (
    <form
      class={styles.part}
      data-part="snooze"
      onSubmit={(event) => {
        event.preventDefault();
        if (untilMs > Date.now()) void snooze(alerts, subject, untilMs).then(onDone);
      }}
    >
      <SelectField label={t('Snooze')} value={length} options={SNOOZES} onChange={setLength} />
      {length === 'time' && <TextField type="datetime-local" label={t('Until')} value={time} onInput={setTime} />}
      <Button type="submit" disabled={!(untilMs > Date.now())}>
        {t('Snooze')}
      </Button>
      {isSet && (
        <Button kind="quiet" onClick={() => void endSnoozes(alerts).then(onDone)}>
          {t('End the snooze')}
        </Button>
      )}
      <p class={`${typography.faint} ${styles.note}`}>
        {t(
          'Snoozed alerts are not counted at the bell and not on the map. This includes later alerts of the same rule and subject.',
        )}
      </p>
    </form>
  );
}

/** End of a snooze, in milliseconds; NaN if the time is incomplete. */
function endOf(length: (typeof SNOOZES)[number]['value'], time: string): number {
  const nowMs = Date.now();
  switch (length) {
    case '15min':
      return nowMs + 15 * MINUTE_MS;
    case '1h':
      return nowMs + HOUR_MS;
    case '4h':
      return nowMs + 4 * HOUR_MS;
    case 'tomorrow':
      return startOfDay(startOfDay(nowMs) + DAY_MS + HOUR_MS * 2) + MORNING_HOUR * HOUR_MS;
    case 'time':
      return inputTime(time);
  }
}

function CommentPart({ alerts, onDone }: PartProps) {
  const [text, setText] = useState('');
  const comments = alerts.length === 1 ? (alerts[0]?.comments ?? []) : [];
  const submit = async (): Promise<void> => {
    if (await comment(alerts, text.trim())) {
      setText('');
      onDone(alerts.length > 1);
    }
  };
  return (
    <form
      class={styles.part}
      data-part="comment"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') void submit();
      }}
    >
      {comments.length > 0 && (
        <ol class={styles.comments} aria-label={t('Comments')}>
          {comments.map((each) => (
            <Comment key={each.id} comment={each} />
          ))}
        </ol>
      )}
      <div class={styles.wide}>
        <AreaField label={t('Comment')} value={text} rows={2} onInput={(next) => setText(next.slice(0, 500))} />
      </div>
      <TextField label={t('Your name')} value={ownName.value} maxLength={100} onInput={rememberOwnName} />
      <Button type="submit" disabled={text.trim() === ''}>
        {t('Add comment')}
      </Button>
    </form>
  );
}

function Comment({ comment: { text, author, at } }: { readonly comment: AlertComment }) {
  return (
    <li>
      <span class={typography.caption}>
        {author != null && <strong>{author}</strong>} <time dateTime={at}>{wholeText(Date.parse(at))}</time>
      </span>
      <p>{text}</p>
    </li>
  );
}
