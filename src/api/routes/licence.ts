import { Lease, LicenceInfo, LicenceKeyBody } from '../../model/licence.ts';
import { type Route, route } from '../route.ts';

/** The hub needs no licence: these are for systems that expect to be able to manage one. */
export const LICENCE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/license/info',
    summary: 'What there is to say about the licence; the hub needs none',
    permission: 'public',
    replies: { 200: { description: 'In words.', schema: LicenceInfo } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.licence.info())),
  }),
  route({
    method: 'PUT',
    path: '/license/key',
    summary: 'Set the licence key',
    permission: { operation: 'UPDATE' },
    body: LicenceKeyBody,
    notes: { refusals: { 400: 'The key does not verify by the public keys that the hub has.' } },
    replies: { 204: { description: 'The key is set.' } },
    async handle({ body, reply }, { operation }) {
      await operation.licence.setKey(body);
      return reply.noContent;
    },
  }),
  route({
    method: 'GET',
    path: '/license/lease',
    summary: 'The licence in force: that of the key, or a trial',
    permission: { operation: 'READ' },
    notes: {
      refusals: {
        400: 'The key does not verify, nothing can verify it, or what it gave has expired.',
        404: 'There is no key and no trial.',
      },
    },
    replies: { 200: { description: 'The lease.', schema: Lease } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.licence.lease())),
  }),
  route({
    method: 'DELETE',
    path: '/license/lease',
    summary: 'Give up the licence key that was set, and the trial',
    permission: { operation: 'DELETE' },
    replies: { 204: { description: 'Both are given up.' } },
    async handle({ reply }, { operation }) {
      await operation.licence.giveBack();
      return reply.noContent;
    },
  }),
  route({
    method: 'GET',
    path: '/license/starttrial',
    summary: 'Start a trial of 30 days, unless one was started before',
    permission: { operation: 'READ' },
    notes: { refusals: { 400: 'The trial has ended.' } },
    replies: { 201: { description: 'The lease of the trial.', schema: Lease } },
    async handle({ reply }, { operation }) {
      return { ...reply.json(JSON.stringify(await operation.licence.startTrial())), status: 201 };
    },
  }),
];
