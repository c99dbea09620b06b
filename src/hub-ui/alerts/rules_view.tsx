import { useEffect, useState } from 'preact/hooks';
import type { AlertRule } from '../../model/alert.ts';
import { Badge } from '../controls/badge.tsx';
import { Button, IconButton } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { confirm } from '../controls/dialog.tsx';
import { Check } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Empty, Notice, Spinner } from '../controls/notice.tsx';
import { toastError } from '../controls/toasts.tsx';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { connection } from '../hub/live.ts';
import { get, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import { SEVERITY_LOOKS, sentenceOfRule } from './alert_text.ts';
import styles from './alerts.module.css';
import { RuleDialog } from './rule_dialog.tsx';

const PATH = '/alerts/rules';

/** List of the alert rules, with the dialog that edits one. */
export function RulesView() {
  const [rules, setRules] = useState<readonly AlertRule[]>();
  const [problem, setProblem] = useState<string>();
  const edited = urlParam('rule');
  const rule = rules?.find(({ id }) => id === edited);
  const isConnected = connection.value.state === 'connected';
  const load = async (): Promise<void> => {
    try {
      setRules(await get<readonly AlertRule[]>(PATH));
      setProblem(undefined);
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  useEffect(() => void load(), [isConnected]);
  const mayCreate = can('CREATE', PATH);
  const add = mayCreate && (
    <Button kind="main" icon="plus" onClick={() => edit('new')}>
      {t('New rule')}
    </Button>
  );
  return (
    <>
      <div class={flow.row}>
        <span class={flow.space} />
        {add}
      </div>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {rules === undefined && problem === undefined && <Spinner />}
      {rules !== undefined && (
        <Card flush>
          {rules.length === 0 ? (
            <Empty icon="bell" title={t('No rules yet')}>
              <p>
                {t('Create a rule to be alerted when objects enter or leave, stay too long, fall silent, or collide.')}
              </p>
            </Empty>
          ) : (
            <ul class={styles.alerts} aria-label={t('Alert rules')}>
              {rules.map((rule) => (
                <RuleRow key={rule.id} rule={rule} onEdit={() => edit(rule.id)} onChanged={load} />
              ))}
            </ul>
          )}
        </Card>
      )}
      {(edited === 'new' || rule !== undefined) && (
        <RuleDialog
          rule={rule}
          onClose={() => edit(undefined)}
          onSaved={() => {
            edit(undefined);
            void load();
          }}
        />
      )}
    </>
  );
}

/** Opens a rule in the dialog by a URL parameter; undefined closes the dialog. */
function edit(rule: string | undefined): void {
  setUrlParams({ rule });
}

function RuleRow({
  rule,
  onEdit,
  onChanged,
}: {
  readonly rule: AlertRule;
  readonly onEdit: () => void;
  readonly onChanged: () => Promise<void>;
}) {
  const path = `${PATH}/${encodeURIComponent(rule.id)}`;
  const { label, tone } = SEVERITY_LOOKS[rule.severity ?? 'warning'];
  const isOn = rule.enabled !== false;
  const toggle = async (): Promise<void> => {
    await request('PUT', path, { body: { ...rule, enabled: !isOn } }).catch(toastError);
    await onChanged();
  };
  const remove = async (): Promise<void> => {
    const question = {
      title: t('Delete the rule {name}?', { name: rule.name }),
      text: t('This rule raises no more alerts. Alerts that it has raised stay until they are cleared.'),
      action: t('Delete rule'),
    };
    if (!(await confirm(question))) return;
    await request('DELETE', path).catch(toastError);
    await onChanged();
  };
  const mayChange = can('UPDATE', path);
  return (
    <li class={styles.row} data-state={isOn ? 'on' : 'cleared'}>
      <Badge tone={isOn ? tone : 'neutral'}>{label}</Badge>
      <div class={styles.text}>
        <strong>{rule.name}</strong>
        <span class={styles.facts}>
          <span>{sentenceOfRule(rule)}</span>
        </span>
      </div>
      <div class={styles.actions}>
        <Check label={t('On')} checked={isOn} disabled={!mayChange} onChange={() => void toggle()} />
        {mayChange && <IconButton icon="edit" label={t('Change {name}', { name: rule.name })} onClick={onEdit} />}
        {can('DELETE', path) && (
          <IconButton icon="trash" label={t('Delete {name}', { name: rule.name })} onClick={() => void remove()} />
        )}
      </div>
    </li>
  );
}
