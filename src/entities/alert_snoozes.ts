import { hubError } from '../errors.ts';
import { AlertSnooze } from '../model/alert.ts';
import { checker } from '../model/check.ts';
import { show } from '../model/error_value_text.ts';
import { formatTime, parseTime } from '../model/time.ts';
import { onlyMembers } from './body.ts';
import type { DocumentKind } from './documents.ts';

const schema = checker(AlertSnooze);

/** Maximum number of snoozes of a hub. */
const SNOOZES_MAX = 500;

/** Snoozes of alerts as stored documents. Their times are in UTC. */
export const ALERT_SNOOZES: DocumentKind<AlertSnooze> = {
  prefix: 'alert_snooze ',
  kind: 'alert_snooze',
  max: SNOOZES_MAX,
  check(body) {
    const snooze = onlyMembers(AlertSnooze, schema.parse(body));
    const untilMs = parseTime(snooze.until);
    if (!Number.isFinite(untilMs)) throw hubError('not_a_time', { path: 'until', found: show(snooze.until) });
    return { ...snooze, name: snooze.name ?? snooze.rule_id, until: formatTime(untilMs) };
  },
};
