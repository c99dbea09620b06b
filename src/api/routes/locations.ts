import { hubError } from '../../errors.ts';
import Type from 'typebox';
import type { HttpReply } from '../../exchange.ts';
import { Location, Proximity } from '../../model/location.ts';
import { ArrayOf } from '../../model/schema.ts';
import { show } from '../../model/error_value_text.ts';
import { lastLocationsOfAll } from '../last_locations.ts';
import { asRefusal } from '../body.ts';
import type { AcceptOptions, ApiDeps } from '../deps.ts';
import { requireEntity } from '../lookup.ts';
import { movesBefore } from '../latest.ts';
import { admitSources } from '../naming.ts';
import { PAGE_HEADERS, PAGE_QUERY } from '../page.ts';
import { oneOf } from '../read_one.ts';
import { type ApiCall, type Method, type ApiRoute, route } from '../route.ts';
import { VIEW_QUERY, viewOf } from '../view.ts';

const ACCEPTED = {
  204: {
    description:
      'All items of the body are accepted. A Warning header reports the number of locations too old for the history.',
    headers: {
      'Owner-Hub':
        'In a cluster, if another hub owns at least three quarters of the items: its name in quotes, and its URL if its cluster_client_url is set, as in "hub-2";url="http://hub-2:8081". Absent for a body of over 64 KiB.',
    },
  },
};
const CREATES = {
  refusals: { 404: 'Reserved by the omlox Hub API. The hub does not return it, because it creates unknown providers.' },
  description:
    'The body may omit provider_id; otherwise it must equal the one in the path. A location older than the last one of ' +
    'its provider is ignored.',
};
const ALL_OR_NONE = {
  description:
    'Each item must have a provider_id. All items are accepted, or none. An error names the index and the field of the ' +
    'first invalid item.',
};
const FORGOTTEN = { 204: { description: 'The location is deleted.' } };

const LIST = { root: 'locations' };

export const LOCATION_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/providers/locations',
    summary: 'Last locations of all providers',
    permission: { operation: 'READ', resource: 'provider_id', owned: 'reply' },
    query: Type.Object({ ...VIEW_QUERY, ...PAGE_QUERY }),
    replies: { 200: { description: 'The locations.', schema: ArrayOf(Location), headers: PAGE_HEADERS } },
    async handle(call, hub) {
      const view = viewOf(call, hub);
      return lastLocationsOfAll({ kind: 'provider', ask: 'provider_locations', view }, call, hub);
    },
  }),
  bulkRow('PUT'),
  bulkRow('POST'),
  route({
    method: 'DELETE',
    path: '/providers/locations',
    summary: 'Delete the last locations of all providers',
    permission: { operation: 'DELETE' },
    replies: FORGOTTEN,
    handle: ({ reply }, hub) => hub.forgetAllLocations().then(() => reply.noContent),
  }),
  proximitiesRow('PUT'),
  proximitiesRow('POST'),
  route({
    method: 'GET',
    path: '/providers/:provider_id/location',
    summary: 'Last location of a provider',
    permission: { operation: 'READ', resource: 'provider_id' },
    query: Type.Object(VIEW_QUERY),
    replies: { 200: { description: 'The location.', schema: Location } },
    handle: (call, hub) => oneOf('provider', 'provider_location', call, hub),
  }),
  route({
    method: 'PUT',
    path: '/providers/:provider_id/location',
    summary: 'Send a location of a provider; an unknown provider is created',
    permission: { operation: 'UPDATE', resource: 'provider_id' },
    body: Location,
    hot: true,
    notes: CREATES,
    replies: ACCEPTED,
    takeBytes(body, call, hub) {
      const tooOld = tallyFor(hub);
      return acceptedBytes(hub.acceptBody(body, { providerId: call.id, tooOld }), call, tooOld, hub);
    },
    handle: (call, hub) =>
      takeLocations({ values: [call.body], options: { root: '', providerId: call.id }, call }, hub),
  }),
  route({
    method: 'DELETE',
    path: '/providers/:provider_id/location',
    summary: 'Delete the last location of a provider',
    permission: { operation: 'DELETE', resource: 'provider_id' },
    replies: FORGOTTEN,
    async handle({ id, reply }, hub) {
      await hub.forgetLocation(requireEntity('provider', id, hub).id);
      return reply.noContent;
    },
  }),
  route({
    method: 'PUT',
    path: '/providers/:provider_id/proximity',
    summary: 'Send the proximity of a provider to a zone',
    permission: { operation: 'UPDATE', resource: 'provider_id' },
    body: Proximity,
    hot: true,
    notes: CREATES,
    replies: ACCEPTED,
    handle: (call, hub) =>
      takeProximities({ values: [call.body], options: { root: '', providerId: call.id }, call }, hub),
  }),
];

function bulkRow(method: Method): ApiRoute {
  return route({
    method,
    path: '/providers/locations',
    summary: 'Send locations of any providers',
    permission: { operation: 'UPDATE', resource: 'provider_id', owned: 'items' },
    body: ArrayOf(Location),
    hot: true,
    notes: ALL_OR_NONE,
    replies: ACCEPTED,
    takeBytes(body, call, hub) {
      const tooOld = tallyFor(hub);
      return acceptedBytes(hub.acceptBody(body, { tooOld }), call, tooOld, hub);
    },
    async takeLong(body, call, hub) {
      const tooOld = tallyFor(hub);
      const taken = await hub.acceptLongBody(body, { ...LIST, tooOld }).catch((cause: unknown) => {
        throw asRefusal(cause);
      });
      return taken === 'unusual' ? undefined : { reply: accepted(taken.committed, call, { tooOld }) };
    },
    handle: (call, hub) => takeLocations({ values: arrayOf(call), options: LIST, call }, hub),
  });
}

function proximitiesRow(method: Method): ApiRoute {
  return route({
    method,
    path: '/providers/proximities',
    summary: 'Send proximities of any providers to zones',
    permission: { operation: 'UPDATE', resource: 'provider_id', owned: 'items' },
    body: ArrayOf(Proximity),
    hot: true,
    notes: ALL_OR_NONE,
    replies: ACCEPTED,
    handle: (call, hub) => takeProximities({ values: arrayOf(call), options: { root: 'proximities' }, call }, hub),
  });
}

/** Counter of the values of a body that are too old for the history. */
type Tally = NonNullable<AcceptOptions['tooOld']>;

interface Taking {
  readonly values: readonly unknown[];
  readonly options: AcceptOptions;
  readonly call: ApiCall;
}

function takeLocations({ values, options, call }: Taking, hub: ApiDeps): HttpReply | Promise<HttpReply> {
  admitSources('location', values, call, hub);
  const tooOld = tallyFor(hub);
  // A hint that is left from an earlier body is dropped: a long list is passed later.
  hub.takeOwnerHint?.();
  const waiting = hub.acceptLocations(values, { ...options, tooOld });
  return accepted(waiting, call, { tooOld, hint: hub.takeOwnerHint?.() });
}

function takeProximities({ values, options, call }: Taking, hub: ApiDeps): HttpReply | Promise<HttpReply> {
  admitSources('proximity', values, call, hub);
  const tooOld = tallyFor(hub);
  const take = () => accepted(hub.acceptProximities(values, { ...options, tooOld }), call, { tooOld });
  const moved = movesBefore(values, hub);
  return moved === undefined ? take() : moved.then(take);
}

// hot
function acceptedBytes(
  waiting: Promise<void> | undefined | 'unusual',
  call: Pick<ApiCall, 'reply'>,
  tooOld: Tally | undefined,
  hub: ApiDeps,
): HttpReply | Promise<HttpReply> | undefined {
  return waiting === 'unusual' ? undefined : accepted(waiting, call, { tooOld, hint: hub.takeOwnerHint?.() });
}

// hot: returns no promise if there is nothing to wait for
function accepted(
  waiting: Promise<void> | undefined,
  { reply }: Pick<ApiCall, 'reply'>,
  notes: Notes,
): HttpReply | Promise<HttpReply> {
  if (waiting !== undefined) return waiting.then(() => taken(reply.noContent, notes));
  return taken(reply.noContent, notes);
}

/** Remarks in the reply to an accepted body. */
interface Notes {
  readonly tooOld: Tally | undefined;
  readonly hint?: ReturnType<NonNullable<ApiDeps['takeOwnerHint']>>;
}

/** The reply to an accepted body, with a hint to its owner, and a warning if part of it is too old for the history. */
function taken(noContent: HttpReply, { tooOld, hint }: Notes): HttpReply {
  const reply = hint === undefined ? noContent : withHeader(noContent, 'Owner-Hub', ownerHeader(hint));
  if (tooOld === undefined || tooOld.count === 0) return reply;
  const text = `${tooOld.count} locations are older than history_retention_days and are not recorded in the history`;
  return withHeader(reply, 'Warning', `199 hub "${text}"`);
}

function withHeader(reply: HttpReply, name: string, value: string): HttpReply {
  return { ...reply, headers: { ...reply.headers, [name]: value } };
}

/** A structured field (RFC 8941): the name of a hub, with its URL as a parameter. */
function ownerHeader({ hub, url }: { readonly hub: string; readonly url?: string }): string {
  return url === undefined ? fieldString(hub) : `${fieldString(hub)};url=${fieldString(url)}`;
}

/** Strings of structured fields are ASCII: other characters are percent-encoded. */
function fieldString(text: string): string {
  return `"${text.replace(/[^ -~]/gu, encodeURIComponent).replace(/["\\]/g, '\\$&')}"`;
}

/** Counts values that are too old for the history, if the hub records one. */
function tallyFor({ history }: ApiDeps): Tally | undefined {
  return history === undefined ? undefined : { count: 0 };
}

function arrayOf({ body }: ApiCall): readonly unknown[] {
  if (Array.isArray(body)) return body;
  throw hubError('not_an_array', { path: 'body', found: show(body) });
}
