import { RequestError } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';

/** Reason of a failed request. */
export interface RequestProblem {
  readonly text: string;
  /** Whether the hub denies the user access. */
  readonly isForbidden: boolean;
}

export function problemOf(error: unknown): RequestProblem {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { text: t('The hub does not answer'), isForbidden: false };
  }
  return { text: errorText(error), isForbidden: error instanceof RequestError && error.status === 403 };
}
