import { AUTHENTICATION } from './authentication.ts';
import { ENDPOINT_RULES } from './endpoint_rules.ts';
import { ENDPOINT_ROWS } from './endpoints.ts';
import { ERRORS } from './errors.ts';
import { EVENTS } from './events.ts';
import { LIMITS } from './limits.ts';
import { PURPOSE } from './purpose.ts';
import { RESOURCES } from './resources.ts';
import type { Statement } from './statement.ts';
import { STATES } from './states.ts';
import { VERSIONING } from './versioning.ts';
import { ZONES_AND_FENCES } from './zones_and_fences.ts';

/** Every statement of the specification, in its order, by chapter. */
export const CHAPTERS: Readonly<Record<string, readonly Statement[]>> = {
  'What the service does': PURPOSE,
  'Resources and their fields': [...RESOURCES, ...ZONES_AND_FENCES],
  'States and transitions': STATES,
  Endpoints: [...ENDPOINT_RULES, ...ENDPOINT_ROWS],
  Authentication: AUTHENTICATION,
  Events: EVENTS,
  Errors: ERRORS,
  Limits: LIMITS,
  Versioning: VERSIONING,
};
