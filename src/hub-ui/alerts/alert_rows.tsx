import { useId, useState } from 'preact/hooks';
import type { Alert } from '../../model/alert.ts';
import { Badge } from '../controls/badge.tsx';
import { Button, IconLink, ShowMore } from '../controls/button.tsx';
import { confirm } from '../controls/dialog.tsx';
import { Icon } from '../controls/icons.tsx';
import { ago } from '../controls/time.ts';
import { mapPath, replayPath } from '../hub/page_paths.ts';
import { hasHistory } from '../hub/settings.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { wholeText } from '../languages/times.ts';
import type { AlertGroup } from './alert_groups.ts';
import { changeAlerts } from './alert_store.ts';
import { groupSubjectOf, subjectOf } from './alert_triage.ts';
import { nameOf, SEVERITY_LOOKS, STATE_LABELS, sentenceOf } from './alert_text.ts';
import styles from './alerts.module.css';
import type { Handled } from './handle_dialog.tsx';
import { HandleButton, HandledFacts, LastComment } from './handled.tsx';

/** Number of alerts of a group shown at a time. */
const SHOWN_STEP = 50;

interface GroupProps {
  readonly group: AlertGroup;
  readonly nowMs: number;
  readonly mayChange: boolean;
  /** Opens the dialog that assigns, snoozes and comments. */
  readonly onHandle: (handled: Handled) => void;
}

/** Group of alerts, which opens to its alerts. A single alert needs no group. */
export function GroupItem({ group, nowMs, mayChange, onHandle }: GroupProps) {
  const [isOpen, setOpen] = useState(false);
  const [most, setMost] = useState(SHOWN_STEP);
  const listId = useId();
  const { key, alerts, newest } = group;
  if (alerts.length === 1 && !isOpen) {
    return <Row alert={newest} rowKey={key} {...{ nowMs, mayChange, onHandle }} />;
  }
  return (
    <li>
      <GroupRow
        {...{ group, nowMs, mayChange, onHandle, isOpen, listId }}
        onToggle={() => {
          setOpen(!isOpen);
          setMost(SHOWN_STEP);
        }}
      />
      {isOpen && (
        <div class={styles.members} id={listId}>
          <ol class={styles.alerts} aria-label={titleOf(group)}>
            {alerts.slice(0, most).map((alert) => (
              <Row key={alert.id} alert={alert} rowKey={alert.id} {...{ nowMs, mayChange, onHandle }} />
            ))}
          </ol>
          {alerts.length > most && <ShowMore label={t('Show older')} onClick={() => setMost(most + SHOWN_STEP)} />}
        </div>
      )}
    </li>
  );
}

interface GroupRowProps extends GroupProps {
  readonly isOpen: boolean;
  /** Id of the element with its alerts, while it is open. */
  readonly listId: string;
  readonly onToggle: () => void;
}

function GroupRow({ group, nowMs, mayChange, onHandle, isOpen, listId, onToggle }: GroupRowProps) {
  const { key, newest, severity, times, objects, raised, open } = group;
  const { label, tone } = SEVERITY_LOOKS[severity];
  const title = titleOf(group);
  const newestMs = Date.parse(newest.raised_at);
  const clear = async (): Promise<void> => {
    const question = t('Clear all alerts of {group}?', { group: title });
    if (await confirmClearing(question, open)) await changeAlerts('clear', open);
  };
  return (
    <div class={`${styles.row} ${styles.group}`} data-row={key} data-state={stateOf(group)} data-severity={severity}>
      <Badge tone={open.length === 0 ? 'neutral' : tone}>{label}</Badge>
      <div class={styles.text}>
        <button
          type="button"
          class={styles.toggle}
          aria-expanded={isOpen}
          aria-controls={isOpen ? listId : undefined}
          onClick={onToggle}
        >
          <Icon name={isOpen ? 'down' : 'right'} />
          <strong>{title}</strong> <span class={styles.times}>×{countText(times)}</span>
        </button>
        <span class={styles.facts}>
          {objects > 0 && (
            <span>
              {objects === 1 ? t('1 object concerned') : t('{count} objects concerned', { count: countText(objects) })}
            </span>
          )}
          <time dateTime={newest.raised_at} title={wholeText(newestMs)}>
            {t('newest: {ago}', { ago: ago(nowMs - newestMs) })}
          </time>
          <span>
            {raised.length === 0
              ? STATE_LABELS[stateOf(group)]
              : t('{count} not acknowledged', { count: countText(raised.length) })}
          </span>
          <HandledFacts alerts={open} />
        </span>
      </div>
      <div class={styles.actions}>
        {newest.fence_id != null && (
          <IconLink
            href={mapPath('fences', newest.fence_id)}
            icon="map"
            label={t('Show on the map: {alert}', { alert: title })}
            title={t('Show on the map')}
          />
        )}
        {mayChange && open.length > 0 && (
          <HandleButton
            title={title}
            onHandle={(focus) => onHandle({ title, alerts: open, subject: groupSubjectOf(newest), focus })}
          />
        )}
        {mayChange && raised.length > 0 && (
          <Button
            icon="check"
            data-acknowledge
            aria-label={t('Acknowledge {count}: {alert}', { count: countText(raised.length), alert: title })}
            onClick={() => void changeAlerts('acknowledge', raised)}
          >
            {t('Acknowledge {count}', { count: countText(raised.length) })}
          </Button>
        )}
        {mayChange && open.length > 0 && (
          <Button
            kind="quiet"
            aria-label={t('Clear {count}: {alert}', { count: countText(open.length), alert: title })}
            onClick={() => void clear()}
          >
            {t('Clear {count}', { count: countText(open.length) })}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Name of the rule, with that of the fence. */
function titleOf({ newest: { name, fence_id: fence } }: AlertGroup): string {
  return fence == null ? name : `${name} · ${nameOf('fences', fence)}`;
}

function stateOf({ raised, open }: AlertGroup): Alert['state'] {
  if (raised.length > 0) return 'raised';
  return open.length > 0 ? 'acknowledged' : 'cleared';
}

/** Asks whether to clear these alerts. */
export function confirmClearing(title: string, open: readonly Alert[]): Promise<boolean> {
  const text = t(
    'Clears {count} alerts for all users. A condition that still holds raises its next alert only after it has ended.',
    { count: countText(open.length) },
  );
  return confirm({ title, text, action: t('Clear all') });
}

interface RowProps {
  readonly alert: Alert;
  /** Identifies the row: the id of the alert, or the key of its group if it is alone there. */
  readonly rowKey: string;
  readonly nowMs: number;
  readonly mayChange: boolean;
  readonly onHandle: GroupProps['onHandle'];
}

function Row({ alert, rowKey, nowMs, mayChange, onHandle }: RowProps) {
  const { label, tone } = SEVERITY_LOOKS[alert.severity];
  const sentence = sentenceOf(alert);
  const atMs = Date.parse(alert.raised_at);
  const onMap = placeOf(alert);
  return (
    <li
      class={styles.row}
      data-row={rowKey}
      data-state={alert.state}
      data-severity={alert.severity}
      // J and K focus it.
      tabIndex={-1}
    >
      <Badge tone={alert.state === 'cleared' ? 'neutral' : tone}>{label}</Badge>
      <div class={styles.text}>
        <strong>{sentence}</strong>
        <span class={styles.facts}>
          <span>{alert.name}</span>
          <time dateTime={alert.raised_at} title={wholeText(atMs)}>
            {ago(nowMs - atMs)}
          </time>
          <span>{stateText(alert)}</span>
          {alert.times > 1 && <span>{t('raised {count} times', { count: countText(alert.times) })}</span>}
          <HandledFacts alerts={[alert]} />
        </span>
        <LastComment alert={alert} />
      </div>
      <div class={styles.actions}>
        {onMap !== undefined && hasHistory() && (
          <IconLink
            href={replayPath(onMap, atMs)}
            icon="play"
            label={t('Replay the 30 s before: {alert}', { alert: sentence })}
            title={t('Replay the 30 s before')}
          />
        )}
        {onMap !== undefined && (
          <IconLink
            href={onMap}
            icon="map"
            label={t('Show on the map: {alert}', { alert: sentence })}
            title={t('Show on the map')}
          />
        )}
        {mayChange && alert.state !== 'cleared' && (
          <HandleButton
            title={sentence}
            onHandle={(focus) => onHandle({ title: sentence, alerts: [alert], subject: subjectOf(alert), focus })}
          />
        )}
        {mayChange && alert.state === 'raised' && (
          <Button
            icon="check"
            data-acknowledge
            aria-label={t('Acknowledge: {alert}', { alert: sentence })}
            onClick={() => void changeAlerts('acknowledge', [alert])}
          >
            {t('Acknowledge')}
          </Button>
        )}
        {mayChange && alert.state !== 'cleared' && (
          <Button
            kind="quiet"
            aria-label={t('Clear: {alert}', { alert: sentence })}
            onClick={() => void changeAlerts('clear', [alert])}
          >
            {t('Clear')}
          </Button>
        )}
      </div>
    </li>
  );
}

function stateText({ state, over_at: over }: Alert): string {
  if (state === 'cleared') return STATE_LABELS.cleared;
  if (over != null) return t('Ended, not acknowledged');
  return state === 'raised' ? t('Not acknowledged') : STATE_LABELS.acknowledged;
}

function placeOf({ trackable_id: trackable, provider_id: provider, fence_id: fence }: Alert): string | undefined {
  if (trackable != null) return mapPath('trackables', trackable, { isFollowed: true });
  if (provider != null) return mapPath('providers', provider, { isFollowed: true });
  return fence == null ? undefined : mapPath('fences', fence);
}
