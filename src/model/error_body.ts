import Type, { type Static } from 'typebox';
import { type Reason, type ReasonParams, REASONS } from '../reasons.ts';

/** Extensible enumeration: a strict one would break generated clients as soon as a hub has another reason. */
const ErrorReason = Type.Unsafe<Reason>(
  Type.String({
    title: 'ErrorReason',
    description:
      'Stable identifier of the reason, independent of the wording of the message. Later versions may add reasons.',
    'x-extensible-enum': Object.keys(REASONS).sort(),
  }),
);

const ErrorParam = Type.Union(
  [
    Type.String(),
    Type.Number(),
    Type.Array(Type.String(), { title: 'ErrorParamValues', description: 'Several values, such as those allowed.' }),
  ],
  { title: 'ErrorParam', description: 'A parameter of a reason.' },
);

/** Members that contain the machine-readable reason of a failure. */
export const REASON_MEMBERS = {
  reason: ErrorReason,
  params: Type.Unsafe<ReasonParams>(
    Type.Record(Type.String(), ErrorParam, {
      title: 'ErrorParams',
      description:
        'Parameters of the reason. `path` is the invalid field, `found` its value as JSON, shortened, or how many of the counted things there are.',
    }),
  ),
};

/** The same members as optional ones, for replies that may contain no failure. */
export const MAYBE_REASON = {
  reason: Type.Optional(REASON_MEMBERS.reason),
  params: Type.Optional(REASON_MEMBERS.params),
};

/** Body of all error responses. */
export const ErrorBody = Type.Object(
  {
    type: Type.String({
      description: 'Type of the error: a reverse-domain name, or plain words such as `not found`.',
    }),
    code: Type.Integer({ minimum: 400, maximum: 599, description: 'HTTP status of the reply.' }),
    message: Type.String({ description: 'What failed or which field is invalid, and the value found.' }),
    ...REASON_MEMBERS,
  },
  { title: 'Error', description: 'Why a request was rejected.' },
);
export type ErrorBody = Static<typeof ErrorBody>;
