import Type from 'typebox';

/** Body of every error reply. */
export const ErrorBody = Type.Object(
  {
    type: Type.String({
      description: 'Type of the error: a reverse-domain name, or plain words such as `not found`.',
    }),
    code: Type.Integer({ minimum: 400, maximum: 599, description: 'The status of the reply.' }),
    message: Type.String({ description: 'What failed or which field is invalid, and the value found.' }),
  },
  { title: 'Error', description: 'Why a request was rejected.' },
);
