import { useEffect, useState } from 'preact/hooks';
import type { LocatingRule } from '../../../model/rule.ts';
import { Badge } from '../../controls/badge.tsx';
import { Button, IconButton } from '../../controls/button.tsx';
import { Disclosure } from '../../controls/disclosure.tsx';
import { NumberField, TextField } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import typography from '../../controls/typography.module.css';
import { can } from '../../hub/access.ts';
import { errorAt, RequestError, request } from '../../hub/rest.ts';
import styles from './rule_list.module.css';

const EXAMPLES = [
  "type = 'uwb' AND accuracy < 1",
  "type = 'gps' AND timestamp_diff < 10000",
  "source LIKE 'hall-%' AND floor = 0",
  'speed IS NOT NULL',
];

const VALIDATOR = '/validator/rules/locating';
const PATIENCE_MS = 250;

/** Locating rules, each checked by the hub while it is written. */
export function RuleList({
  rules,
  root,
  error,
  showsHelp = false,
  onChange,
}: {
  readonly rules: readonly LocatingRule[];
  /** What messages of the hub call the list. */
  readonly root: string;
  readonly error: unknown;
  /** Whether what can stand in a rule is seen without asking. */
  readonly showsHelp?: boolean;
  readonly onChange: (rules: readonly LocatingRule[], step?: string) => void;
}) {
  const highest = Math.max(-1, ...rules.map(({ priority }) => priority));
  return (
    <div class={flow.stack}>
      {rules.length > 0 && (
        <ol class={styles.rules}>
          {rules.map((rule, i) => (
            <RuleRow
              key={`${rules.length} ${i}`}
              rule={rule}
              number={i + 1}
              error={errorAt(error, `${root}[${i}].expression`)}
              priorityError={errorAt(error, `${root}[${i}].priority`)}
              onChange={(next, step) => onChange(rules.with(i, next), `${step} ${i}`)}
              onRemove={() => onChange(rules.filter((_, j) => j !== i))}
            />
          ))}
        </ol>
      )}
      <div class={flow.row}>
        <Button icon="plus" onClick={() => onChange([...rules, { expression: '', priority: highest + 1 }])}>
          Add rule
        </Button>
        <RuleHelp isOpen={showsHelp} />
      </div>
    </div>
  );
}

function RuleRow({
  rule,
  number,
  error,
  priorityError,
  onChange,
  onRemove,
}: {
  readonly rule: LocatingRule;
  readonly number: number;
  readonly error: string | undefined;
  readonly priorityError: string | undefined;
  readonly onChange: (rule: LocatingRule, step: string) => void;
  readonly onRemove: () => void;
}) {
  const checked = useValidity(rule.expression);
  return (
    <li class={styles.rule}>
      <TextField
        label={`Rule ${number}`}
        spellcheck={false}
        placeholder={EXAMPLES[0] ?? ''}
        value={rule.expression}
        error={error ?? checked.problem}
        help={checked.isValid ? <Badge tone="ok">Valid</Badge> : 'A condition on a location'}
        onInput={(expression) => onChange({ ...rule, expression }, 'expression')}
      />
      <NumberField
        label="Priority"
        min={0}
        step="1"
        value={rule.priority}
        error={priorityError}
        onInput={(priority) => priority !== undefined && onChange({ ...rule, priority }, 'priority')}
      />
      <IconButton icon="trash" label={`Remove rule ${number}`} onClick={onRemove} />
    </li>
  );
}

interface Validity {
  readonly isValid: boolean;
  readonly problem: string | undefined;
}

const UNKNOWN: Validity = { isValid: false, problem: undefined };

/** What the hub's validator says of an expression, soon after it was changed. */
function useValidity(expression: string): Validity {
  const [found, setFound] = useState<Validity & { readonly of: string }>();
  useEffect(() => {
    if (expression.trim() === '' || !can('CREATE', VALIDATOR)) return;
    const asking = new AbortController();
    const say = (problem: string | undefined): void => {
      if (!asking.signal.aborted) setFound({ of: expression, isValid: problem === undefined, problem });
    };
    const timer = setTimeout(() => {
      request('POST', VALIDATOR, { body: { expression }, signal: asking.signal }).then(
        () => say(undefined),
        (error: unknown) => {
          // Whether it is valid is not known where the hub cannot be asked.
          if (error instanceof RequestError && error.status === 400) say(error.reason);
        },
      );
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [expression]);
  if (found?.of === expression) return found;
  // While somebody types on, what was wrong may be still: better than a message that flickers.
  return expression.trim() === '' ? UNKNOWN : { isValid: false, problem: found?.problem };
}

function RuleHelp({ isOpen }: { readonly isOpen: boolean }) {
  return (
    <Disclosure title="What a rule can contain" isOpen={isOpen}>
      <div class={`${flow.stack} ${typography.soft}`}>
        <p>
          Properties of a location: <code>type</code>, <code>source</code>, <code>provider_id</code>,{' '}
          <code>accuracy</code> and <code>speed</code>, <code>floor</code>, and <code>timestamp_diff</code>, its age in
          milliseconds.
        </p>
        <p>
          Compared by <code>= != &lt; &lt;= &gt; &gt;= LIKE</code>, <code>IS NULL</code>, joined by{' '}
          <code>AND OR NOT</code>. Of all locations of a trackable, the one that matches the rule with the highest
          priority counts.
        </p>
        <ul class={styles.examples}>
          {EXAMPLES.map((example) => (
            <li key={example}>
              <code>{example}</code>
            </li>
          ))}
        </ul>
      </div>
    </Disclosure>
  );
}
