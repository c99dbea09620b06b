import { useState } from 'preact/hooks';
import { type RpcAvailable, TIMEOUT_DEFAULT_MS, TIMEOUT_MAX_MS } from '../../model/rpc.ts';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { AreaField, NumberField, SelectField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import { can } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { type CallDraft, readParams, WAYS } from './method_call.ts';

/** Form for a call: method, handler and params. */
export function CallForm({
  method,
  available,
  isCalling,
  onMethod,
  onCall,
}: {
  readonly method: string;
  readonly available: RpcAvailable;
  readonly isCalling: boolean;
  readonly onMethod: (method: string) => void;
  readonly onCall: (draft: CallDraft) => void;
}) {
  const [draft, setDraft] = useState<Omit<CallDraft, 'method'>>(EMPTY);
  const change = (changed: Partial<CallDraft>): void => setDraft({ ...draft, ...changed });
  const handlers = available[method]?.handler_id ?? [];
  // The selected handler may belong to another method, or have disconnected.
  const handlerId = handlers.includes(draft.handlerId) ? draft.handlerId : '';
  const { problem } = readParams(draft.params);
  const { timeoutMs = TIMEOUT_DEFAULT_MS } = draft;
  const isTimeoutBad = !Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > TIMEOUT_MAX_MS;
  const mayCall = can('UPDATE', '/rpc') && can('UPDATE', `/rpc/${encodeURIComponent(method)}`);
  return (
    <Card title={t('Call')}>
      <form
        class={flow.stack}
        onSubmit={(event) => {
          event.preventDefault();
          onCall({ ...draft, method, handlerId });
        }}
      >
        <SelectField
          label={t('Method')}
          value={method}
          options={Object.keys(available).map((name) => ({ value: name, label: name }))}
          onChange={onMethod}
        />
        <SelectField
          label={t('Handler')}
          value={handlerId}
          options={[
            {
              value: '',
              label: handlers.length === 1 ? t('The only one') : t('All {count}', { count: handlers.length }),
            },
            ...handlers.map((id) => ({ value: id, label: id })),
          ]}
          onChange={(id) => change({ handlerId: id })}
        />
        <SelectField
          label={t('Show')}
          value={draft.way}
          options={WAYS}
          disabled={handlerId !== ''}
          onChange={(way) => change({ way })}
        />
        <NumberField
          label={t('Timeout')}
          unit="ms"
          value={draft.timeoutMs}
          placeholder={String(TIMEOUT_DEFAULT_MS)}
          onInput={(value) => change({ timeoutMs: value })}
          error={
            isTimeoutBad
              ? t('This must be a whole number from 1 to {most}.', { most: countText(TIMEOUT_MAX_MS) })
              : undefined
          }
        />
        <AreaField
          label={t('Parameters')}
          help={t('A JSON object. Leave it empty if the method needs none.')}
          mono
          value={draft.params}
          onInput={(params) => change({ params })}
          error={problem}
        />
        {!mayCall && <Notice>{t('Your roles do not permit you to call this method.')}</Notice>}
        <div class={`${flow.row} ${flow.end}`}>
          <Button
            kind="main"
            type="submit"
            icon="play"
            disabled={isCalling || !mayCall || problem !== undefined || isTimeoutBad}
          >
            {isCalling ? t('Calling') : t('Call')}
          </Button>
        </div>
      </form>
    </Card>
  );
}

const EMPTY: Omit<CallDraft, 'method'> = { handlerId: '', way: 'each', timeoutMs: undefined, params: '' };
