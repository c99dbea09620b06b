import Type, { type Static } from 'typebox';
import { Named } from './schema.ts';

/** Ranks the locations of a trackable: the location with the highest priority of all true expressions wins. */
export const LocatingRule = Named('LocatingRule', {
  expression: Type.String({ description: "A condition on a location, for example `type = 'uwb' AND accuracy < 1`." }),
  priority: Type.Integer({ minimum: 0, description: '0 is the lowest, and the priority if no rule matches.' }),
});
export type LocatingRule = Static<typeof LocatingRule>;

/** Rules that select the effective location of a trackable. */
export const RuleSet = Type.Array(LocatingRule, {
  title: 'RuleSet',
  description: 'Locating rules; a trackable without own ones follows those of the hub.',
});
