import Type from 'typebox';

/** The body of every error reply. */
export const ErrorBody = Type.Object(
  {
    type: Type.String({
      description: 'What went wrong: a name under a reverse domain, or plain words such as `not found`.',
    }),
    code: Type.Integer({ minimum: 400, maximum: 599, description: 'The status of the reply.' }),
    message: Type.String({ description: 'What could not be done, or which field does not fit, and what was found.' }),
  },
  { title: 'Error', description: 'Why a request was refused.' },
);
