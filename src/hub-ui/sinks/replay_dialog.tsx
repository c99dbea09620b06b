import { useState } from 'preact/hooks';
import type { Sink, SinkReplay } from '../../model/sink.ts';
import { Button, Choice } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import fieldStyles from '../controls/field.module.css';
import { Field, TextField } from '../controls/field.tsx';
import { Notice } from '../controls/notice.tsx';
import { toast } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { errorAt, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { inputText, inputTime, zoneText } from '../languages/times.ts';
import { errorText } from '../problems/sentences.ts';
import { sinkPath } from './sink_test.tsx';

type Way = 'time' | 'cursor';

/** Dialog that delivers the events of the log again, from a time or after a cursor. */
export function ReplayDialog({
  sink: { id, name },
  from,
  onClose,
  onReplayed,
}: {
  readonly sink: Sink;
  /** Suggested time; the current hour if it is not a time. */
  readonly from: string;
  readonly onClose: () => void;
  readonly onReplayed: () => void;
}) {
  const [way, setWay] = useState<Way>('time');
  const [time, setTime] = useState(() => {
    const atMs = Date.parse(from);
    return inputText(Number.isFinite(atMs) ? atMs : Date.now() - 3_600_000);
  });
  const [cursor, setCursor] = useState('');
  const [error, setError] = useState<unknown>();
  const atMs = inputTime(time);
  const isComplete = way === 'time' ? Number.isFinite(atMs) : cursor.trim() !== '';
  const replay = async (): Promise<void> => {
    const body: SinkReplay = way === 'time' ? { from: new Date(atMs).toISOString() } : { after: cursor.trim() };
    try {
      await request('POST', `${sinkPath(id)}/replay`, { body });
      toast(t('Events are delivered again to {name}', { name }));
      onReplayed();
      onClose();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Dialog
      title={t('Deliver events again')}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="main" disabled={!isComplete} onClick={() => void replay()}>
            {t('Replay')}
          </Button>
        </>
      }
    >
      <p class={typography.soft}>
        {t('The sink continues there and resumes if it is paused. The receiver gets events again, with the same ids.')}
      </p>
      <Choice
        label={t('Where to continue')}
        value={way}
        options={[
          { value: 'time', label: t('From a time') },
          { value: 'cursor', label: t('After a cursor') },
        ]}
        onChange={(next) => {
          setWay(next);
          setError(undefined);
        }}
      />
      {way === 'time' ? (
        <Field
          label={t('Date and time, {zone}', { zone: zoneText(Number.isFinite(atMs) ? atMs : Date.now()) })}
          error={errorAt(error, 'from')}
        >
          {(ids) => (
            <input
              {...ids}
              class={fieldStyles.input}
              type="datetime-local"
              step="1"
              value={time}
              max={inputText(Date.now())}
              onInput={(event) => setTime(event.currentTarget.value)}
            />
          )}
        </Field>
      ) : (
        <TextField
          label={t('Cursor')}
          help={t('The position that a receiver has stored: the member cursor of an event.')}
          error={errorAt(error, 'after')}
          value={cursor}
          onInput={setCursor}
        />
      )}
      {error !== undefined && errorAt(error, way === 'time' ? 'from' : 'after') === undefined && (
        <Notice tone="danger">{errorText(error)}</Notice>
      )}
    </Dialog>
  );
}
