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
  is_there: Type.Boolean({ description: 'Whether zones, fences or trackables of the demo exist.' }),
  error: Type.Optional(Type.String({ description: 'Why the demo stopped.' })),
});
export type Demo = Static<typeof Demo>;

/** Messages to the thread of the demo. */
export type ToDemoThread =
  | { readonly say: 'reply'; readonly id: number; readonly status: number; readonly text: string }
  | { readonly say: 'stop' };

/**
 * Messages from the thread of the demo: API requests, as a client would send them, and its state. The thread exits
 * after removing its site.
 */
export type FromDemoThread =
  | {
      readonly say: 'request';
      readonly id: number;
      readonly method: string;
      /** Path below the version. */
      readonly path: string;
      /** Request body as JSON; undefined without one. */
      readonly body: string | undefined;
    }
  | { readonly say: 'running' }
  | { readonly say: 'failed'; readonly why: string };

/** Task of the thread: run the demo until stopped, or remove the site of an earlier run. */
export interface DemoTask {
  readonly task: 'run' | 'remove';
}
