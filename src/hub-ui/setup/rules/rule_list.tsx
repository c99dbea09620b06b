import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Location } from '../../../model/location.ts';
import type { LocatingRule } from '../../../model/rule.ts';
import { Badge } from '../../controls/badge.tsx';
import { Button, Choice, IconButton } from '../../controls/button.tsx';
import { Disclosure } from '../../controls/disclosure.tsx';
import { ExpressionField } from '../../controls/expression_field.tsx';
import { FieldError, NumberField } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import type { Option } from '../../controls/select.tsx';
import typography from '../../controls/typography.module.css';
import { can } from '../../hub/access.ts';
import { columnAt, errorAt, RequestError, request } from '../../hub/rest.ts';
import { t, tParts } from '../../languages/language.ts';
import { countText } from '../../languages/numbers.ts';
import { ConditionBuilder, FIRST_CONDITION } from './condition_builder.tsx';
import { type Condition, type Conditions, conditionsOf, expressionOf } from './rule_conditions.ts';
import styles from './rule_list.module.css';
import { useLive } from './use_live.ts';
import { factsOf, holdsOf } from './winner.ts';

const EXAMPLES = [
  "type = 'uwb' AND accuracy < 1",
  "type = 'gps' AND timestamp_diff < 10000",
  "source LIKE 'hall-%' AND floor = 0",
  'speed IS NOT NULL',
];

const WAYS: readonly Option<'builder' | 'text'>[] = [
  { value: 'builder', label: t('Builder') },
  { value: 'text', label: t('Text') },
];
const FIRST_RULE = expressionOf({ join: 'all', list: [FIRST_CONDITION] });
const OFFERED_MAX = 1_000;

const VALIDATOR = '/validator/rules/locating';
const PATIENCE_MS = 250;

/** Editor of locating rules; the hub validates each while the user types. */
export function RuleList({
  rules,
  root,
  error,
  showsHelp = false,
  onChange,
}: {
  readonly rules: readonly LocatingRule[];
  /** Name of the list in errors of the hub. */
  readonly root: string;
  readonly error: unknown;
  /** Whether the help is initially open. */
  readonly showsHelp?: boolean;
  readonly onChange: (rules: readonly LocatingRule[], step?: string) => void;
}) {
  // Without a match the priority is 0: a rule with priority 0 would have no effect.
  const highest = Math.max(0, ...rules.map(({ priority }) => priority));
  const live = useLive();
  return (
    <div class={flow.stack}>
      {rules.length > 0 && (
        <ol class={styles.rules}>
          {rules.map((rule, i) => (
            <RuleRow
              key={`${rules.length} ${i}`}
              rule={rule}
              number={i + 1}
              live={live}
              error={errorAt(error, `${root}[${i}].expression`)}
              column={columnAt(error, `${root}[${i}].expression`)}
              priorityError={errorAt(error, `${root}[${i}].priority`)}
              onChange={(next, step) => onChange(rules.with(i, next), `${step} ${i}`)}
              onRemove={() => onChange(rules.filter((_, j) => j !== i))}
            />
          ))}
        </ol>
      )}
      <div class={flow.row}>
        <Button icon="plus" onClick={() => onChange([...rules, { expression: FIRST_RULE, priority: highest + 1 }])}>
          {t('Add rule')}
        </Button>
        <RuleHelp isOpen={showsHelp} />
      </div>
    </div>
  );
}

function RuleRow({
  rule,
  number,
  live,
  error,
  column,
  priorityError,
  onChange,
  onRemove,
}: {
  readonly rule: LocatingRule;
  readonly number: number;
  /** Live locations; undefined until loaded. */
  readonly live: readonly Location[] | undefined;
  readonly error: string | undefined;
  /** Column of the expression at which it is invalid, from 1. */
  readonly column: number | undefined;
  readonly priorityError: string | undefined;
  readonly onChange: (rule: LocatingRule, step: string) => void;
  readonly onRemove: () => void;
}) {
  const [isText, setText] = useState(() => conditionsOf(rule.expression) === undefined);
  const [built, setBuilt] = useState<Conditions>();
  const conditions =
    built !== undefined && expressionOf(built) === rule.expression ? built : conditionsOf(rule.expression);
  const build = (next: Conditions): void => {
    setBuilt(next);
    onChange({ ...rule, expression: expressionOf(next) }, 'expression');
  };
  return (
    <li class={styles.rule}>
      <fieldset class={styles.body}>
        <legend class={typography.hidden}>{t('Locating rule {number}', { number })}</legend>
        <div class={flow.row}>
          <Choice
            label={t('How rule {number} is written', { number })}
            value={isText ? 'text' : 'builder'}
            options={WAYS}
            onChange={(way) => setText(way === 'text')}
          />
          <Matches expression={rule.expression} live={live} />
        </div>
        {isText ? (
          <RuleText
            number={number}
            expression={rule.expression}
            error={error}
            column={column}
            onChange={(expression) => onChange({ ...rule, expression }, 'expression')}
          />
        ) : conditions === undefined ? (
          <p class={typography.soft}>{t('The builder cannot display this rule. Edit it as text.')}</p>
        ) : (
          <>
            <ConditionBuilder conditions={conditions} offered={valuesOf(live)} onChange={build} />
            <FieldError text={error} />
          </>
        )}
      </fieldset>
      <NumberField
        label={t('Priority')}
        min={0}
        step="1"
        value={rule.priority}
        error={priorityError}
        onInput={(priority) => priority !== undefined && onChange({ ...rule, priority }, 'priority')}
      />
      <IconButton icon="trash" label={t('Remove rule {number}', { number })} onClick={onRemove} />
    </li>
  );
}

/** Text input for the expression, which the hub validates. */
function RuleText({
  number,
  expression,
  error,
  column,
  onChange,
}: {
  readonly number: number;
  readonly expression: string;
  readonly error: string | undefined;
  readonly column: number | undefined;
  readonly onChange: (expression: string) => void;
}) {
  const checked = useValidity(expression);
  return (
    <ExpressionField
      label={t('Rule {number}', { number })}
      example={EXAMPLES[0] ?? ''}
      expression={expression}
      error={error ?? checked.problem}
      column={error === undefined ? checked.column : column}
      help={checked.isValid ? <Badge tone="ok">{t('Valid')}</Badge> : t('A condition on a location')}
      onInput={onChange}
    />
  );
}

/** Number of live locations that match the rule. */
function Matches({
  expression,
  live,
}: {
  readonly expression: string;
  readonly live: readonly Location[] | undefined;
}) {
  if (live === undefined || live.length === 0) return null;
  const nowMs = Date.now();
  const held = live.map((location) => holdsOf(expression, factsOf(location, nowMs)));
  if (held.includes(undefined)) return null;
  const count = held.filter((holds) => holds === true).length;
  return (
    <span class={typography.faint}>
      {t('Matches {count} of {total} live locations', { count: countText(count), total: countText(live.length) })}
    </span>
  );
}

/** Values in the live locations, by property, as suggestions. */
function valuesOf(live: readonly Location[] | undefined): ReadonlyMap<Condition['property'], readonly string[]> {
  const nowMs = Date.now();
  const facts = (live ?? []).slice(0, OFFERED_MAX).map((location) => factsOf(location, nowMs));
  return new Map(
    (['provider_id', 'source', 'floor'] as const).map((property) => {
      const values = facts.flatMap((each) => (each[property] == null ? [] : [String(each[property])]));
      return [property, [...new Set(values)].sort()] as const;
    }),
  );
}

interface Validity {
  readonly isValid: boolean;
  readonly problem: string | undefined;
  /** Column of the problem, from 1. */
  readonly column: number | undefined;
}

const UNKNOWN: Validity = { isValid: false, problem: undefined, column: undefined };

/** Validates an expression on the hub, debounced. */
function useValidity(expression: string): Validity {
  const [found, setFound] = useState<Validity & { readonly of: string }>();
  useEffect(() => {
    if (expression.trim() === '' || !can('CREATE', VALIDATOR)) return;
    const asking = new AbortController();
    const say = (error?: RequestError): void => {
      if (asking.signal.aborted) return;
      setFound({ of: expression, isValid: error === undefined, problem: error?.reason, column: error?.column });
    };
    const timer = setTimeout(() => {
      request('POST', VALIDATOR, { body: { expression }, signal: asking.signal }).then(
        () => say(),
        (error: unknown) => {
          // Without an answer of the hub, validity is unknown.
          if (error instanceof RequestError && error.status === 400) say(error);
        },
      );
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [expression]);
  if (found?.of === expression) return found;
  // Keep the last problem while the user types, so that the message does not flicker.
  return expression.trim() === '' ? UNKNOWN : { isValid: false, problem: found?.problem, column: found?.column };
}

function RuleHelp({ isOpen }: { readonly isOpen: boolean }) {
  return (
    <Disclosure title={t('What a rule can contain')} isOpen={isOpen}>
      <div class={`${flow.stack} ${typography.soft}`}>
        <p>
          {tParts('Properties of a location: {names}, and {age}, its age in milliseconds.', {
            names: codes('type', 'source', 'provider_id', 'accuracy', 'speed', 'floor'),
            age: <code>timestamp_diff</code>,
          })}
        </p>
        <p>
          {tParts(
            'Operators: {operators}, joined by {words}. Of all locations of a trackable, the one that matches the rule with the highest priority counts.',
            {
              operators: codes('=', '!=', '<', '<=', '>', '>=', 'LIKE', 'IS NULL'),
              words: codes('AND', 'OR', 'NOT'),
            },
          )}
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

/** Keywords of the rule language, formatted as code. */
function codes(...words: readonly string[]) {
  return words.map((word, i) => (
    <Fragment key={word}>
      {i > 0 && ', '}
      <code>{word}</code>
    </Fragment>
  ));
}
