import Type, { type Static } from 'typebox';
import { Named, OneOf } from './schema.ts';

const DemoState = OneOf(['stopped', 'starting', 'running', 'stopping'], {
  title: 'DemoState',
  description: 'Whether this hub runs the demo. A hub that has just started does not.',
});
export type DemoState = Static<typeof DemoState>;

/** The demo of the hub. */
export const Demo = Named('Demo', {
  state: DemoState,
  is_there: Type.Boolean({ description: 'Whether the hub has zones, fences or trackables of the demo.' }),
  error: Type.Optional(Type.String({ description: 'Why it has ended.' })),
});
export type Demo = Static<typeof Demo>;

/** What the thread of the demo is told. */
export type ToDemoThread =
  | { readonly say: 'reply'; readonly id: number; readonly status: number; readonly text: string }
  | { readonly say: 'stop' };

/** What it asks of the API, as a client would. The thread ends when it has removed its site. */
export type FromDemoThread =
  | {
      readonly say: 'request';
      readonly id: number;
      readonly method: string;
      /** Below the version. */
      readonly path: string;
      /** JSON; undefined where there is none. */
      readonly body: string | undefined;
    }
  | { readonly say: 'running' }
  | { readonly say: 'failed'; readonly why: string };

/** What it is started for: to run until it is stopped, or to remove what an earlier one has left. */
export interface DemoTask {
  readonly task: 'run' | 'remove';
}
