import type { AlertSchedule } from '../../model/alert.ts';
import { WEEKDAYS } from '../../model/weekdays.ts';
import { Check, Checks, SelectField } from '../controls/field.tsx';
import fieldStyles from '../controls/field.module.css';
import { TimeOfDay } from '../controls/time_of_day.tsx';
import { locale, t } from '../languages/language.ts';
import { timeZone, timeZones } from '../languages/time_zone.ts';

type Weekday = (typeof WEEKDAYS)[number];

const DAY_MS = 86_400_000;
/** A Sunday. */
const SUNDAY_MS = Date.UTC(2026, 0, 4);

function dayName(day: Weekday, weekday: 'long' | 'short'): string {
  const format = new Intl.DateTimeFormat(locale, { weekday, timeZone: 'UTC' });
  return format.format(SUNDAY_MS + WEEKDAYS.indexOf(day) * DAY_MS);
}

/** Weekdays, Monday first. */
const WEEK: readonly Weekday[] = [...WEEKDAYS.slice(1), 'sunday'];

/** Describes a schedule, such as `Mon, Tue, 08:00–17:00 (Europe/Berlin)`. */
export function scheduleText({ days, from, to, time_zone: zone }: AlertSchedule): string {
  const names = days == null ? [] : WEEK.filter((day) => days.includes(day)).map((day) => dayName(day, 'short'));
  const hours = from == null && to == null ? [] : [`${from ?? '00:00'}–${to ?? '00:00'}`];
  return `${[...names, ...hours].join(', ') || t('all days')} (${zone ?? 'UTC'})`;
}

/** Inputs for the times at which a rule is in effect; always without a schedule. */
export function ScheduleFields({
  schedule,
  onChange,
}: {
  readonly schedule: AlertSchedule | null | undefined;
  readonly onChange: (schedule: AlertSchedule | null) => void;
}) {
  const isOn = schedule != null;
  const zone = schedule?.time_zone ?? 'UTC';
  return (
    <>
      <Check
        label={t('Only at certain times')}
        checked={isOn}
        onChange={() => onChange(isOn ? null : { from: '08:00', to: '17:00', time_zone: timeZone })}
      />
      {isOn && (
        <>
          <Checks
            label={t('Days on which the time begins')}
            options={WEEK.map((value) => ({ value, label: dayName(value, 'long') }))}
            values={schedule.days ?? WEEK}
            onChange={(days) => {
              const chosen = WEEK.filter((day) => days.includes(day));
              const isAll = chosen.length === 0 || chosen.length === WEEK.length;
              onChange({ ...schedule, days: isAll ? null : chosen });
            }}
          />
          <div class={fieldStyles.fields}>
            <TimeOfDay
              label={t('From')}
              value={schedule.from ?? '00:00'}
              onInput={(from) => onChange({ ...schedule, from: from || null })}
            />
            <TimeOfDay
              label={t('To')}
              value={schedule.to ?? '00:00'}
              onInput={(to) => onChange({ ...schedule, to: to || null })}
            />
            <SelectField
              label={t('Time zone')}
              value={zone}
              options={[...new Set([zone, ...timeZones()])].map((value) => ({ value, label: value }))}
              onChange={(time_zone) => onChange({ ...schedule, time_zone })}
            />
          </div>
        </>
      )}
    </>
  );
}
