import { checker } from '../model/check.ts';
import { LocationProvider } from '../model/provider.ts';
import { type Body, badRequest, checkIntegers, DURATIONS, onlyMembers } from './body.ts';

const schema = checker(LocationProvider);

/** The provider as it is kept. Throws HUB_BAD_REQUEST naming the field and the value that do not fit. */
export function validateProvider(body: Body): LocationProvider {
  const provider = onlyMembers(LocationProvider, schema.parse(body));
  checkIntegers(provider, DURATIONS);
  if (provider.id === '') throw badRequest('id: must not be empty, found ""');
  return provider;
}
