import { useState } from 'preact/hooks';
import { type Sink, SINK_TYPES, type SinkTest } from '../../model/sink.ts';
import { Button } from '../controls/button.tsx';
import { copyText } from '../controls/clipboard.ts';
import { Dialog } from '../controls/dialog.tsx';
import { Disclosure } from '../controls/disclosure.tsx';
import fieldStyles from '../controls/field.module.css';
import { AreaField, Checks, NumberField, SecondsField, SelectField, TextField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import { DeleteStored, keptText, SecretField } from '../controls/secret_field.tsx';
import { NO_SECRET } from '../controls/secret_input.ts';
import { TimeOfDay } from '../controls/time_of_day.tsx';
import { toast } from '../controls/toasts.tsx';
import { errorAt, RequestError, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { timeZone, timeZones } from '../languages/time_zone.ts';
import { Credentials } from '../links/credentials.tsx';
import { errorText } from '../problems/sentences.ts';
import { bodyOf, EXAMPLES, formatsOf, formOf, has, problemOf, type SinkForm, topicsOf } from './sink_form.ts';
import { isLive, typeLabel } from './sink_text.ts';
import { sinkPath, TestNotice } from './sink_test.tsx';

/** Examples of the URL of a target, by type. */
const URLS: Readonly<Record<string, string>> = {
  webhook: 'https://wms.example.com/hooks/rtls',
  nats: 'nats://nats.example.com:4222/rtls.events',
  email: 'smtps://mail.example.com:465',
  kafka: 'kafka://kafka.example.com:9092/rtls',
  hub: 'https://hub.example.com/v2',
};

const SECRET_LABELS: Readonly<Record<string, string>> = {
  webhook: t('Signing key'),
  nats: t('User and password, or token'),
};

const FORMAT_LABELS: Readonly<Record<SinkForm['format'], string>> = {
  cloudevents: t('CloudEvents, one by one'),
  cloudevents_batch: t('CloudEvents, in batches'),
  plain: t('As on the WebSocket'),
};

interface PartProps {
  readonly form: SinkForm;
  readonly error: unknown;
  /** Whether the sink exists and may have secrets. */
  readonly isStored: boolean;
  readonly change: (changed: Partial<SinkForm>) => void;
}

/** Members whose inputs show their errors. */
const SHOWN = [
  ...['name', 'url', 'topics', 'params', 'secret', 'headers', 'ca_certificate'],
  ...['sender', 'recipients'],
  ...['oidc.token_url', 'oidc.client_id', 'oidc.client_secret', 'oidc.scope'],
  ...['digest_interval', 'quiet_hours', 'concurrency', 'batch_max', 'timeout'],
];

/** Dialog that creates or changes a sink, and sends it a test event. */
export function SinkDialog({
  sink,
  onClose,
  onSaved,
}: {
  /** The sink to change; undefined for a new one. */
  readonly sink: Sink | undefined;
  readonly onClose: () => void;
  readonly onSaved: (sink: Sink) => void;
}) {
  // The page reads the sink again while the dialog is open.
  const [first] = useState(sink);
  const [stored, setStored] = useState(sink);
  const [form, setForm] = useState(() => formOf(sink, timeZone));
  const [error, setError] = useState<unknown>();
  const [tested, setTested] = useState<SinkTest>();
  const [isBusy, setBusy] = useState(false);
  const change = (changed: Partial<SinkForm>): void => {
    setError(undefined);
    setTested(undefined);
    setForm({ ...form, ...changed });
  };
  const save = async (): Promise<Sink> => {
    const problem = problemOf(form);
    if (problem !== undefined) throw new RequestError(400, problem);
    const body = bodyOf(form, stored);
    const saved =
      stored === undefined
        ? await request<Sink>('POST', '/sinks', { body })
        : await request<Sink>('PUT', sinkPath(stored.id), { body });
    setStored(saved);
    setForm({ ...form, secret: NO_SECRET, headers: NO_SECRET });
    onSaved(saved);
    return saved;
  };
  const act = async (isTest: boolean): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const { id, name } = await save();
      if (isTest) setTested(await request<SinkTest>('POST', `${sinkPath(id)}/test`));
      else {
        toast(t('{name} is saved', { name }));
        onClose();
      }
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  const part = { form, error, isStored: stored !== undefined, change };
  const isAtField = SHOWN.some((field) => errorAt(error, field) !== undefined);
  return (
    <Dialog
      wide
      title={first === undefined ? t('New sink') : t('Change {name}', { name: first.name })}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{stored === first ? t('Cancel') : t('Close')}</Button>
          <Button icon="send" disabled={isBusy} onClick={() => void act(true)}>
            {t('Save and test')}
          </Button>
          <Button kind="main" disabled={isBusy} onClick={() => void act(false)}>
            {t('Save')}
          </Button>
        </>
      }
    >
      <Target {...part} />
      <Checks
        label={t('Topics')}
        help={t('Without a topic, the sink receives only the alerts of rules that name it.')}
        error={errorAt(error, 'topics')}
        options={topicsOf(form.type).map((value) => ({ value, label: <code>{value}</code> }))}
        values={form.topics}
        onChange={(topics) => change({ topics })}
      />
      {has(form.type, 'sender') ? (
        <MailInputs {...part} />
      ) : has(form.type, 'oidc') ? (
        <Credentials {...part} tokenField="secret" />
      ) : (
        <SecretInputs {...part} />
      )}
      <More {...part} />
      {error !== undefined && !isAtField && <Notice tone="danger">{errorText(error)}</Notice>}
      {tested !== undefined && <TestNotice result={tested} />}
    </Dialog>
  );
}

function Target({ form, error, change }: PartProps) {
  return (
    <>
      <div class={fieldStyles.fields}>
        <TextField
          label={t('Name')}
          error={errorAt(error, 'name')}
          value={form.name}
          onInput={(name) => change({ name })}
        />
        <SelectField
          label={t('Type')}
          value={form.type}
          options={SINK_TYPES.map((value) => ({ value, label: typeLabel(value) }))}
          onChange={(type) => change({ type, ...(has(type, 'oidc') && { topics: topicsOf(type) }) })}
        />
      </div>
      <TextField
        label={t('URL')}
        type="url"
        placeholder={URLS[form.type]}
        error={errorAt(error, 'url')}
        value={form.url}
        onInput={(url) => change({ url })}
      />
    </>
  );
}

function SecretInputs({ form, error, isStored, change }: PartProps) {
  const isWebhook = form.type === 'webhook';
  const generate = (): void => {
    const key = `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
    change({ secret: { text: key, isDeleted: false } });
    void copyText(key, t('Signing key'));
  };
  return (
    <>
      <SecretField
        label={SECRET_LABELS[form.type] ?? t('User and password')}
        help={
          isWebhook
            ? t('The receiver verifies signatures with the same key. Without one, requests are unsigned.')
            : undefined
        }
        error={errorAt(error, 'secret')}
        isStored={isStored}
        value={form.secret}
        onChange={(secret) => change({ secret })}
      />
      {isWebhook && (
        <div>
          <Button onClick={generate}>{t('Generate and copy a key')}</Button>
        </div>
      )}
      {has(form.type, 'ca_certificate') && (
        <AreaField
          label={t('Certificates of authorities')}
          help={t('In PEM, for brokers with TLS that the system does not trust.')}
          error={errorAt(error, 'ca_certificate')}
          mono
          rows={2}
          value={form.ca_certificate}
          onInput={(text) => change({ ca_certificate: text })}
        />
      )}
      {has(form.type, 'headers') && (
        <div>
          <AreaField
            label={t('Headers of each request')}
            help={keptText(isStored) ?? t('One per line, such as {example}.', { example: EXAMPLES.headers })}
            error={errorAt(error, 'headers')}
            mono
            rows={2}
            value={form.headers.text}
            onInput={(text) => change({ headers: { text, isDeleted: false } })}
          />
          {isStored && <DeleteStored value={form.headers} onChange={(headers) => change({ headers })} />}
        </div>
      )}
    </>
  );
}

function MailInputs({ form, error, isStored, change }: PartProps) {
  return (
    <>
      <div class={fieldStyles.fields}>
        <TextField
          label={t('Sender')}
          placeholder={EXAMPLES.sender}
          error={errorAt(error, 'sender')}
          value={form.sender}
          onInput={(sender) => change({ sender })}
        />
        <SecretField
          label={t('User and password')}
          help={t('Such as {example}.', { example: EXAMPLES.login })}
          error={errorAt(error, 'secret')}
          isStored={isStored}
          value={form.secret}
          onChange={(secret) => change({ secret })}
        />
      </div>
      <AreaField
        label={t('Recipients')}
        help={t('One address per line.')}
        error={errorAt(error, 'recipients')}
        rows={3}
        value={form.recipients}
        onInput={(recipients) => change({ recipients })}
      />
      <SecondsField
        label={t('Collect events for')}
        help={t('Events within this time are sent in one e-mail.')}
        error={errorAt(error, 'digest_interval')}
        placeholder="60"
        value={form.digest_interval}
        onInput={(digest_interval) => change({ digest_interval })}
      />
      <div class={fieldStyles.fields}>
        <TimeOfDay label={t('No e-mails from')} value={form.quietFrom} onInput={(quietFrom) => change({ quietFrom })} />
        <TimeOfDay label={t('No e-mails until')} value={form.quietTo} onInput={(quietTo) => change({ quietTo })} />
        <SelectField
          label={t('Time zone')}
          error={errorAt(error, 'quiet_hours')}
          value={form.quietZone}
          options={[...new Set([form.quietZone, ...timeZones()])].map((value) => ({ value, label: value }))}
          onChange={(quietZone) => change({ quietZone })}
        />
      </div>
    </>
  );
}

function More({ form, error, change }: PartProps) {
  const isOpen = ['params', 'concurrency', 'batch_max', 'timeout'].some((field) => errorAt(error, field) !== undefined);
  return (
    <Disclosure title={t('More')} isOpen={isOpen || form.params !== ''}>
      <div class={flow.stack}>
        <AreaField
          label={t('Filters')}
          help={t('One per line, such as {example}. They apply to all topics that have them.', {
            example: EXAMPLES.params,
          })}
          error={errorAt(error, 'params')}
          mono
          rows={2}
          value={form.params}
          onInput={(params) => change({ params })}
        />
        <div class={fieldStyles.fields}>
          {has(form.type, 'format') && (
            <SelectField
              label={t('Format')}
              value={form.format}
              options={formatsOf(form.type).map((value) => ({ value, label: FORMAT_LABELS[value] }))}
              onChange={(format) => change({ format })}
            />
          )}
          {form.topics.some(isLive) && (
            <SelectField
              label={t('If the target is too slow')}
              value={form.overflow}
              options={[
                { value: 'newest_per_object', label: t('Send only the newest of each object') },
                { value: 'drop_oldest', label: t('Drop the oldest') },
              ]}
              onChange={(overflow) => change({ overflow })}
            />
          )}
          {has(form.type, 'concurrency') && (
            <NumberField
              label={t('Concurrent requests')}
              error={errorAt(error, 'concurrency')}
              min={1}
              max={16}
              step="1"
              placeholder="4"
              value={form.concurrency}
              onInput={(concurrency) => change({ concurrency })}
            />
          )}
          <NumberField
            label={t('Events in a batch')}
            error={errorAt(error, 'batch_max')}
            min={1}
            max={1000}
            step="1"
            placeholder="100"
            value={form.batch_max}
            onInput={(size) => change({ batch_max: size })}
          />
          <SecondsField
            label={t('Timeout')}
            error={errorAt(error, 'timeout')}
            min={1}
            max={60}
            placeholder="15"
            value={form.timeout}
            onInput={(timeout) => change({ timeout })}
          />
        </div>
      </div>
    </Disclosure>
  );
}
