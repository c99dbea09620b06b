import { hubError } from '../../errors.ts';
import Type from 'typebox';
import { redactor } from '../../auth/redaction.ts';
import { ALERT_STATES, Alert, AlertPreview, AlertRule, AlertSelection, AlertSummary } from '../../model/alert.ts';
import { checker } from '../../model/check.ts';
import { ArrayOf, OneOf } from '../../model/schema.ts';
import { show } from '../../model/error_value_text.ts';
import { shownList } from '../list_body.ts';
import { type ApiCall, type ApiRoute, route } from '../route.ts';

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

const RULE_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/alerts/rules',
    summary: 'All alert rules',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The rules.', schema: ArrayOf(AlertRule) } },
    handle: ({ reply }, { alerts }) => reply.json(shownList(alerts.rules.list, (rule) => JSON.stringify(rule))),
  }),
  route({
    method: 'POST',
    path: '/alerts/rules',
    summary: 'Create an alert rule',
    permission: { operation: 'CREATE' },
    body: AlertRule,
    replies: { 201: { description: 'The stored rule.', schema: AlertRule } },
    async handle({ body, path, reply }, { alerts }) {
      const rule = await alerts.rules.create(body);
      return reply.created(JSON.stringify(rule), `${path}/${rule.id}`);
    },
  }),
  route({
    method: 'POST',
    path: '/alerts/rules/preview',
    summary: 'Preview of an alert rule',
    permission: { operation: 'CREATE' },
    body: AlertRule,
    replies: { 200: { description: 'Its objects, and the conditions that hold now.', schema: AlertPreview } },
    handle: async ({ body, reply }, { alerts }) => reply.json(JSON.stringify(await alerts.preview(body))),
  }),
  route({
    method: 'GET',
    path: '/alerts/rules/:rule_id',
    summary: 'One alert rule',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The rule.', schema: AlertRule } },
    handle: ({ id, reply }, { alerts }) => reply.json(JSON.stringify(alerts.rules.get(id))),
  }),
  route({
    method: 'PUT',
    path: '/alerts/rules/:rule_id',
    summary: 'Replace an alert rule',
    permission: { operation: 'UPDATE' },
    body: AlertRule,
    replies: { 200: { description: 'The stored rule.', schema: AlertRule } },
    handle: async ({ id, body, reply }, { alerts }) => reply.json(JSON.stringify(await alerts.rules.replace(id, body))),
  }),
  route({
    method: 'DELETE',
    path: '/alerts/rules/:rule_id',
    summary: 'Delete an alert rule',
    permission: { operation: 'DELETE' },
    replies: { 204: { description: 'The rule is deleted; the conditions of its alerts have ended.' } },
    handle: ({ id, reply }, { alerts }) => alerts.rules.remove(id).then(() => reply.noContent),
  }),
];

export const ALERT_ROUTES: readonly ApiRoute[] = [
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
  route({
    method: 'GET',
    path: '/alerts/summary',
    summary: 'Number of alerts by severity',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'Numbers by severity.', schema: AlertSummary } },
    handle: ({ reply }, { alerts }) => reply.json(JSON.stringify(alerts.summary())),
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
