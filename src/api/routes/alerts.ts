import { hubError } from '../../errors.ts';
import Type from 'typebox';
import { redactor } from '../../auth/redaction.ts';
import { ALERT_STATES, Alert, AlertPreview, AlertRule, AlertSelection, AlertSummary } from '../../model/alert.ts';
import { checker } from '../../model/check.ts';
import { ArrayOf, OneOf } from '../../model/schema.ts';
import { show } from '../../model/error_value_text.ts';
import { shownList } from '../list_body.ts';
import { type ApiCall, type ApiRoute, route, valueRoute } from '../route.ts';
import { documentRows } from './document_rows.ts';

const selection = checker(AlertSelection);

/** The JSON of an alert, redacted for the token of a call. */
function textOf(alert: Alert, { sight }: Pick<ApiCall, 'sight'>): string {
  const text = JSON.stringify(alert);
  return redactor(sight, 'alert', 'plain')?.(text) ?? text;
}

/** The ids in a body; undefined for all open alerts. Throws HUB_BAD_REQUEST. */
function idsIn(body: unknown): readonly string[] | undefined {
  const { ids, all } = selection.parse(body);
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
      handle: ({ body, reply }, { alerts }) => alerts.act(act, idsIn(body)).then(() => reply.noContent),
    }),
  ),
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
        await alerts.act(act, [call.id]);
        return call.reply.json(textOf(alerts.get(call.id), call));
      },
    }),
  ),
];
