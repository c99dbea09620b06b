import { HubError } from '../../errors.ts';
import { ArrayOf } from '../../model/schema.ts';
import { show } from '../../model/show.ts';
import { Consumption } from '../../model/usage.ts';
import { type Route, route } from '../route.ts';

const LIST = ArrayOf(Consumption);

export const STATS_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/stats/consumption/summary',
    summary: 'What was used, month by month',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The months, the earliest first; the last goes on.', schema: LIST } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.usage.all())),
  }),
  route({
    method: 'GET',
    path: '/stats/consumption/current',
    summary: 'What was used this month up to now',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The month.', schema: Consumption } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.usage.current())),
  }),
  route({
    method: 'GET',
    path: '/stats/consumption/:year/:month',
    summary: 'What was used in a month',
    permission: { operation: 'READ' },
    notes: { path: { year: 'Four digits.', month: '1 to 12.' } },
    replies: { 200: { description: 'A list of that month.', schema: LIST } },
    handle({ id: year, path, reply }, { operation }) {
      const month = path.slice(path.lastIndexOf('/') + 1);
      const found = isMonth(year, month) ? operation.usage.month(Number(year), Number(month)) : undefined;
      if (found !== undefined) return reply.json(JSON.stringify([found]));
      throw new HubError('HUB_NOT_FOUND', `Cannot find the month ${show(`${year}/${month}`)}: nothing is known of it`);
    },
  }),
];

function isMonth(year: string, month: string): boolean {
  return /^\d{4}$/.test(year) && /^\d{1,2}$/.test(month);
}
