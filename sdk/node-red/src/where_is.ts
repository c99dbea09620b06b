import type { LocationHub, Schemas } from 'omlox-location-hub-client';

/** The last location of an object, and the fences that contain it. */
export interface Whereabouts {
  readonly kind: 'trackable' | 'provider';
  readonly id: string;
  readonly location: Schemas['Location'];
  readonly fences: readonly Schemas['Fence'][];
}

/**
 * Returns where a trackable or provider is; undefined if the hub does not know it, or has no location of it. Rejects if
 * the hub cannot answer.
 */
export async function whereIs({ rest }: Pick<LocationHub, 'rest'>, id: string): Promise<Whereabouts | undefined> {
  const path = { trackable_id: id, provider_id: id };
  const options = { params: { path } } as const;
  const trackable = await rest.GET('/trackables/{trackable_id}/location', options);
  if (trackable.data !== undefined) {
    const fences = await rest.GET('/trackables/{trackable_id}/fences', options);
    return whereabouts('trackable', id, { location: trackable.data, fences: answerOf(fences) });
  }
  throwUnlessUnknown(trackable);
  const provider = await rest.GET('/providers/{provider_id}/location', options);
  if (provider.data !== undefined) {
    const fences = await rest.GET('/providers/{provider_id}/fences', options);
    return whereabouts('provider', id, { location: provider.data, fences: answerOf(fences) });
  }
  throwUnlessUnknown(provider);
  return undefined;
}

/** The hub answers with these types, because the request does not ask for GeoJSON. */
function whereabouts(
  kind: Whereabouts['kind'],
  id: string,
  { location, fences }: { readonly location: object; readonly fences: object },
): Whereabouts {
  return { kind, id, location: location as Schemas['Location'], fences: fences as readonly Schemas['Fence'][] };
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

const UNKNOWN = [204, 404];

function throwUnlessUnknown(answer: Answer<unknown>): void {
  // The hub answers 400 to an id that is not a UUID, such as that of a provider.
  if (answer.response.status !== 400 && !UNKNOWN.includes(answer.response.status)) throw problemOf(answer);
}

/** Returns the body of an answer, or throws its error. */
export function answerOf<T>(answer: Answer<T>): NonNullable<T> {
  if (answer.data == null) throw problemOf(answer);
  return answer.data;
}

function problemOf({ error, response }: Answer<unknown>): Error {
  const { message } = (error ?? {}) as { readonly message?: string };
  return new Error(message ?? `The hub answers with status ${response.status}`);
}
