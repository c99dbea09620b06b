import { hubError } from '../../errors.ts';
import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import { redactor } from '../../auth/redaction.ts';
import {
  ALERT_STATES,
  Alert,
  AlertAssignment,
  AlertPreview,
  AlertRemark,
  AlertRule,
  AlertSelection,
  AlertSnooze,
  AlertSummary,
} from '../../model/alert.ts';
import { checker } from '../../model/check.ts';
import { ArrayOf, OneOf } from '../../model/schema.ts';
import { show } from '../../model/error_value_text.ts';
import { formatTime } from '../../model/time.ts';
import { shownList } from '../list_body.ts';
import { type ApiCall, type ApiRoute, route, valueRoute } from '../route.ts';
import { documentRows } from './document_rows.ts';

const selection = checker(AlertSelection);
const assignment = checker(AlertAssignment);
const remark = checker(AlertRemark);

/** The JSON of an alert, redacted for the token of a call. */
function textOf(alert: Alert, { visibility }: Pick<ApiCall, 'visibility'>): string {
  const text = JSON.stringify(alert);
  return redactor(visibility, 'alert', 'plain')?.(text) ?? text;
}

/** The ids of a selection; undefined for all open alerts. Throws HUB_BAD_REQUEST. */
function idsIn({ ids, all }: AlertSelection): readonly string[] | undefined {
  if (ids == null && all !== true) {
    throw hubError('missing_unless_all', { path: 'ids', found: show(ids) });
  }
  return ids ?? undefined;
}

/** Throws HUB_BAD_REQUEST. */
function checkState(state: string | undefined): void {
  if (state === undefined || ALERT_STATES.some((word) => word === state)) return;
  throw hubError('out_of_choices', { path: 'state', allowed: ALERT_STATES.join(', '), found: show(state) });
}

const [LIST_RULES, CREATE_RULE, ...RULE_ROUTES] = documentRows<AlertRule>({
  path: '/alerts/rules',
  idName: 'rule_id',
  schema: AlertRule,
  noun: 'rule',
  summaries: {
    list: 'All alert rules',
    create: 'Create an alert rule',
    get: 'One alert rule',
    replace: 'Replace an alert rule',
    remove: 'Delete an alert rule',
  },
  removed: 'The rule is deleted; the conditions of its alerts have ended.',
  of: ({ alerts }) => alerts.rules,
}) as [ApiRoute, ApiRoute, ...ApiRoute[]];

const [LIST_SNOOZES, CREATE_SNOOZE, ...SNOOZE_ROUTES] = documentRows<AlertSnooze>({
  path: '/alerts/snoozes',
  idName: 'snooze_id',
  schema: AlertSnooze,
  noun: 'snooze',
  summaries: {
    list: 'All snoozes of alerts',
    create: 'Snooze the alerts of a rule, a fence or an object',
    get: 'One snooze of alerts',
    remove: 'End a snooze of alerts',
  },
  notes: { create: { description: 'A snooze of the same rule, fence and objects is replaced.' } },
  removed: 'The snooze has ended.',
  of: ({ alerts }) => alerts.snoozes.documents,
  create: async (call, { alerts }) => ({ document: await alerts.snoozes.create(call.body, call.by()), more: {} }),
}) as [ApiRoute, ApiRoute, ...ApiRoute[]];

export const ALERT_ROUTES: readonly ApiRoute[] = [
  LIST_RULES,
  CREATE_RULE,
  valueRoute({
    method: 'POST',
    path: '/alerts/rules/preview',
    summary: 'Preview of an alert rule',
    permission: { operation: 'CREATE' },
    body: AlertRule,
    returns: ['Its objects, and the conditions that hold now.', AlertPreview],
    value: ({ body }, { alerts }) => alerts.preview(body),
  }),
  ...RULE_ROUTES,
  route({
    method: 'GET',
    path: '/alerts',
    summary: 'Alerts, the newest first',
    permission: { operation: 'READ' },
    query: Type.Object({
      state: Type.Optional(OneOf(ALERT_STATES, { title: 'AlertState', description: 'State of the alert.' })),
    }),
    replies: { 200: { description: 'The alerts.', schema: ArrayOf(Alert) } },
    handle(call, { alerts }) {
      const { state } = call.query;
      checkState(state);
      const wanted = alerts.list().filter((alert) => state === undefined || alert.state === state);
      return call.reply.json(shownList(wanted, (alert) => textOf(alert, call)));
    },
  }),
  valueRoute({
    path: '/alerts/summary',
    summary: 'Number of alerts by severity',
    returns: ['Numbers by severity.', AlertSummary],
    value: (_call, { alerts }) => alerts.summary(),
  }),
  ...(['acknowledge', 'clear'] as const).map((act) =>
    route({
      method: 'POST',
      path: `/alerts/${act}`,
      summary: act === 'clear' ? 'Clear alerts' : 'Acknowledge alerts',
      permission: { operation: 'UPDATE' },
      body: AlertSelection,
      replies: { 204: { description: 'All of them have changed.' } },
      handle: (call, { alerts }) =>
        alerts.act({ act }, idsIn(selection.parse(call.body)), call.by()).then(() => call.reply.noContent),
    }),
  ),
  route({
    method: 'POST',
    path: '/alerts/assign',
    summary: 'Assign alerts to a person',
    permission: { operation: 'UPDATE' },
    body: AlertAssignment,
    replies: { 204: { description: 'All of them are assigned.' } },
    async handle(call, { alerts }) {
      const { assignee, ...selected } = assignment.parse(call.body);
      await alerts.act({ act: 'assign', assignee: assignee ?? undefined }, idsIn(selected), call.by());
      return call.reply.noContent;
    },
  }),
  route({
    method: 'POST',
    path: '/alerts/comment',
    summary: 'Comment on alerts',
    permission: { operation: 'UPDATE' },
    body: AlertRemark,
    replies: { 204: { description: 'All of them have the comment.' } },
    async handle(call, { alerts, events }) {
      const { text, author, ...selected } = remark.parse(call.body);
      const by = call.by();
      const { subject } = by;
      const comment = {
        ...{ id: randomUUID(), text },
        ...(author != null && { author }),
        ...(subject !== undefined && { subject }),
        at: formatTime(events.now()),
      };
      await alerts.act({ act: 'comment', comment }, idsIn(selected), by);
      return call.reply.noContent;
    },
  }),
  LIST_SNOOZES,
  CREATE_SNOOZE,
  ...SNOOZE_ROUTES,
  route({
    method: 'GET',
    path: '/alerts/:alert_id',
    summary: 'One alert',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The alert.', schema: Alert } },
    handle: (call, { alerts }) => call.reply.json(textOf(alerts.get(call.id), call)),
  }),
  ...(['acknowledge', 'clear'] as const).map((act) =>
    route({
      method: 'POST',
      path: `/alerts/:alert_id/${act}`,
      summary: act === 'clear' ? 'Clear an alert' : 'Acknowledge an alert',
      permission: { operation: 'UPDATE' },
      replies: { 200: { description: 'The changed alert.', schema: Alert } },
      async handle(call, { alerts }) {
        await alerts.act({ act }, [call.id], call.by());
        return call.reply.json(textOf(alerts.get(call.id), call));
      },
    }),
  ),
];
