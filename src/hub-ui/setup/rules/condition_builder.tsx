import { useId } from 'preact/hooks';
import { PROVIDER_TYPES } from '../../../model/provider_type.ts';
import { Button, Choice, IconButton } from '../../controls/button.tsx';
import fieldStyles from '../../controls/field.module.css';
import flow from '../../controls/flow.module.css';
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
  type: 'Type of the provider',
  provider_id: 'Provider',
  source: 'Source',
  accuracy: 'Accuracy in meters',
  timestamp_diff: 'Age in milliseconds',
  floor: 'Floor',
  speed: 'Speed in meters per second',
};

const OPERATOR_LABELS: Readonly<Record<Operator, string>> = {
  '=': 'is',
  '!=': 'is not',
  '<': 'is below',
  '<=': 'is at most',
  '>': 'is above',
  '>=': 'is at least',
  LIKE: 'is like',
  'NOT LIKE': 'is not like',
  'IS NULL': 'is not known',
  'IS NOT NULL': 'is known',
};

const JOINS: readonly { value: Conditions['join']; label: string }[] = [
  { value: 'all', label: 'All hold' },
  { value: 'any', label: 'Any holds' },
];

/** What a condition begins as. */
export const FIRST_CONDITION: Condition = { property: 'type', by: '=', value: 'uwb' };

/** A rule put together of properties, operators and values. */
export function ConditionBuilder({
  conditions,
  offered,
  onChange,
}: {
  readonly conditions: Conditions;
  /** Values that live locations have, by property. */
  readonly offered: ReadonlyMap<Property, readonly string[]>;
  readonly onChange: (conditions: Conditions) => void;
}) {
  const { join, list } = conditions;
  return (
    <div class={flow.stack}>
      {list.length > 1 && (
        <div class={flow.row}>
          <Choice
            label="Of these conditions"
            value={join}
            options={JOINS}
            onChange={(next) => onChange({ join: next, list })}
          />
        </div>
      )}
      <ul class={styles.list} aria-label="Conditions">
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
          Add condition
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
  const known = property === 'type' ? PROVIDER_TYPES : offered;
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
      <select
        class={fieldStyles.input}
        aria-label={`Property ${number}`}
        value={property}
        onChange={(event) => changeProperty(event.currentTarget.value as Property)}
      >
        {ALL_PROPERTIES.map((each) => (
          <option key={each} value={each}>
            {PROPERTY_LABELS[each]}
          </option>
        ))}
      </select>
      <select
        class={fieldStyles.input}
        aria-label={`Operator ${number}`}
        value={by}
        onChange={(event) => onChange({ ...condition, by: event.currentTarget.value as Operator })}
      >
        {operatorsOf(property).map((each) => (
          <option key={each} value={each}>
            {OPERATOR_LABELS[each]}
          </option>
        ))}
      </select>
      {hasValue(by) ? (
        <div>
          <input
            class={fieldStyles.input}
            aria-label={`Value ${number}`}
            aria-invalid={problem !== undefined}
            aria-describedby={problem === undefined ? undefined : problemId}
            inputMode={TEXT_PROPERTIES.has(property) ? 'text' : 'decimal'}
            list={listId}
            spellcheck={false}
            value={value}
            onInput={(event) => onChange({ ...condition, value: event.currentTarget.value })}
          />
          <datalist id={listId}>
            {known.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          {problem !== undefined && (
            <p id={problemId} class={fieldStyles.error} role="alert">
              {problem}
            </p>
          )}
        </div>
      ) : (
        <span />
      )}
      {onRemove ? <IconButton icon="close" label={`Remove condition ${number}`} onClick={onRemove} /> : <span />}
    </li>
  );
}
