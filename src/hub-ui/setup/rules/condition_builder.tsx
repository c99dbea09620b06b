import { useId } from 'preact/hooks';
import { PROVIDER_TYPES } from '../../../model/provider_type.ts';
import { Button, Choice, IconButton } from '../../controls/button.tsx';
import fieldStyles from '../../controls/field.module.css';
import { FieldError } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import { type Option, Select } from '../../controls/select.tsx';
import { t } from '../../languages/language.ts';
import styles from './condition_builder.module.css';
import {
  ALL_PROPERTIES,
  type Condition,
  type Conditions,
  hasValue,
  type Operator,
  operatorsOf,
  problemOf,
  TEXT_PROPERTIES,
} from './rule_conditions.ts';

type Property = Condition['property'];

const PROPERTY_LABELS: Readonly<Record<Property, string>> = {
  type: t('Type of the provider'),
  provider_id: t('Provider'),
  source: t('Source'),
  accuracy: t('Accuracy in meters'),
  timestamp_diff: t('Age in milliseconds'),
  floor: t('Floor'),
  speed: t('Speed in meters per second'),
};

const OPERATOR_LABELS: Readonly<Record<Operator, string>> = {
  '=': 'is',
  '!=': t('is not'),
  '<': t('is below'),
  '<=': t('is at most'),
  '>': t('is above'),
  '>=': t('is at least'),
  LIKE: t('is like'),
  'NOT LIKE': t('is not like'),
  'IS NULL': t('is not known'),
  'IS NOT NULL': t('is known'),
};

const JOINS: readonly Option<Conditions['join']>[] = [
  { value: 'all', label: t('All hold') },
  { value: 'any', label: t('Any holds') },
];

/** Initial condition. */
export const FIRST_CONDITION: Condition = { property: 'type', by: '=', value: 'uwb' };

/** Form that builds a rule from properties, operators and values. */
export function ConditionBuilder({
  conditions,
  offered,
  onChange,
}: {
  readonly conditions: Conditions;
  /** Values from live locations, by property, as suggestions. */
  readonly offered: ReadonlyMap<Property, readonly string[]>;
  readonly onChange: (conditions: Conditions) => void;
}) {
  const { join, list } = conditions;
  return (
    <div class={flow.stack}>
      {list.length > 1 && (
        <div class={flow.row}>
          <Choice
            label={t('Of these conditions')}
            value={join}
            options={JOINS}
            onChange={(next) => onChange({ join: next, list })}
          />
        </div>
      )}
      <ul class={styles.list} aria-label={t('Conditions')}>
        {list.map((condition, i) => (
          <Row
            key={i}
            condition={condition}
            number={i + 1}
            offered={offered.get(condition.property) ?? []}
            onChange={(next) => onChange({ join, list: list.with(i, next) })}
            {...(list.length > 1 && { onRemove: () => onChange({ join, list: list.filter((_, j) => j !== i) }) })}
          />
        ))}
      </ul>
      <div class={flow.row}>
        <Button kind="quiet" icon="plus" onClick={() => onChange({ join, list: [...list, FIRST_CONDITION] })}>
          {t('Add condition')}
        </Button>
      </div>
    </div>
  );
}

function Row({
  condition,
  number,
  offered,
  onChange,
  onRemove,
}: {
  readonly condition: Condition;
  readonly number: number;
  readonly offered: readonly string[];
  readonly onChange: (condition: Condition) => void;
  readonly onRemove?: () => void;
}) {
  const { property, by, value } = condition;
  const problem = problemOf(condition);
  const problemId = useId();
  const listId = useId();
  const suggestions = property === 'type' ? PROVIDER_TYPES : offered;
  const changeProperty = (next: Property): void => {
    const operators = operatorsOf(next);
    const isSameKind = TEXT_PROPERTIES.has(next) === TEXT_PROPERTIES.has(property);
    onChange({
      property: next,
      by: operators.includes(by) ? by : '=',
      value: isSameKind && next !== 'type' ? value : next === 'type' ? 'uwb' : '',
    });
  };
  return (
    <li class={styles.row}>
      <Select
        aria-label={t('Property {number}', { number })}
        value={property}
        options={ALL_PROPERTIES.map((value) => ({ value, label: PROPERTY_LABELS[value] }))}
        onChange={changeProperty}
      />
      <Select
        aria-label={t('Operator {number}', { number })}
        value={by}
        options={operatorsOf(property).map((each) => ({ value: each, label: OPERATOR_LABELS[each] }))}
        onChange={(next) => onChange({ ...condition, by: next })}
      />
      {hasValue(by) ? (
        <div>
          <input
            class={fieldStyles.input}
            aria-label={t('Value {number}', { number })}
            aria-invalid={problem !== undefined}
            aria-describedby={problem === undefined ? undefined : problemId}
            inputMode={TEXT_PROPERTIES.has(property) ? 'text' : 'decimal'}
            list={listId}
            spellcheck={false}
            value={value}
            onInput={(event) => onChange({ ...condition, value: event.currentTarget.value })}
          />
          <datalist id={listId}>
            {suggestions.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <FieldError id={problemId} text={problem} />
        </div>
      ) : (
        <span />
      )}
      {onRemove ? (
        <IconButton icon="close" label={t('Remove condition {number}', { number })} onClick={onRemove} />
      ) : (
        <span />
      )}
    </li>
  );
}
