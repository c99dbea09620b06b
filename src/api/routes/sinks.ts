import Type from 'typebox';
import { hubError } from '../../errors.ts';
import { checker } from '../../model/check.ts';
import { show } from '../../model/error_value_text.ts';
import { ArrayOf } from '../../model/schema.ts';
import {
  Sink,
  SINK_DELIVERY_STATES,
  SinkDelivery,
  SinkDeliveryState,
  SinkReplay,
  SinkStatus,
  SinkTest,
} from '../../model/sink.ts';
import { type ApiRoute, valueRoute } from '../route.ts';
import { documentRows } from './document_rows.ts';

const position = checker(SinkReplay);
const ONE = '/sinks/:sink_id';
const STORED: readonly [string, typeof SinkStatus] = [
  'The status. A command takes effect within a moment.',
  SinkStatus,
];

/** The endpoints of sinks. A sink delivers the events of all entities, so they need permissions for all. */
export const SINK_ROUTES: readonly ApiRoute[] = [
  ...documentRows<Sink>({
    path: '/sinks',
    idName: 'sink_id',
    schema: Sink,
    noun: 'sink',
    summaries: {
      list: 'All sinks',
      create: 'Create a sink',
      get: 'One sink',
      replace: 'Replace a sink',
      patch: 'Change a sink by JSON Patch',
      remove: 'Delete a sink',
    },
    removed: 'The sink is deleted; nothing more is delivered to it.',
    of: ({ sinks }) => sinks.documents,
  }),
  valueRoute({
    path: '/sinks/status',
    summary: 'Status of all sinks',
    returns: ['The status of each sink.', ArrayOf(SinkStatus)],
    value: (_call, { sinks }) => sinks.statuses(),
  }),
  valueRoute({
    path: `${ONE}/status`,
    summary: 'Status of a sink',
    returns: ['The status.', SinkStatus],
    value: ({ id }, { sinks }) => sinks.status(id),
  }),
  valueRoute({
    path: `${ONE}/deliveries`,
    summary: 'Events that wait for delivery, and the last deliveries, the newest first',
    query: Type.Object({
      state: Type.Optional(SinkDeliveryState),
    }),
    notes: { refusals: { 503: 'Another hub of the cluster delivers to the sink.' } },
    returns: ['The deliveries.', ArrayOf(SinkDelivery)],
    value({ id, query: { state } }, { sinks }) {
      if (state !== undefined && !SINK_DELIVERY_STATES.some((word) => word === state)) {
        throw hubError('out_of_choices', {
          path: 'state',
          allowed: SINK_DELIVERY_STATES.join(', '),
          found: show(state),
        });
      }
      return sinks.deliveries(id).filter((delivery) => state === undefined || delivery.state === state);
    },
  }),
  valueRoute({
    method: 'POST',
    path: `${ONE}/test`,
    summary: 'Send a test event to a sink',
    permission: { operation: 'UPDATE' },
    returns: ['Whether the target accepted it.', SinkTest],
    value: ({ id }, { sinks }) => sinks.test(id),
  }),
  ...(['pause', 'resume'] as const).map((act) =>
    valueRoute({
      method: 'POST',
      path: `${ONE}/${act}`,
      summary: act === 'pause' ? 'Pause the delivery to a sink' : 'Resume a sink, and retry at once',
      permission: { operation: 'UPDATE' },
      returns: STORED,
      async value({ id }, { sinks }) {
        await sinks.act(id, act);
        return sinks.status(id);
      },
    }),
  ),
  valueRoute({
    method: 'POST',
    path: `${ONE}/replay`,
    summary: 'Deliver events again, from a position of the event log',
    permission: { operation: 'UPDATE' },
    body: SinkReplay,
    returns: STORED,
    async value({ id, body }, { sinks }) {
      await sinks.replay(id, position.parse(body));
      return sinks.status(id);
    },
  }),
];
