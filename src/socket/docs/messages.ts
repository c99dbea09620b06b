import type { TObject } from 'typebox';
import type { Components, DocumentSchema } from '../../model/components.ts';

/** The messages of a channel, each shown once. */
export class Messages {
  readonly byKey: Record<string, DocumentSchema> = {};
  readonly #components: Components;
  readonly #channel: string;

  /** `channel`: the reference to it. */
  constructor(components: Components, channel: string) {
    this.#components = components;
    this.#channel = channel;
  }

  refer(key: string, frame: TObject): DocumentSchema {
    const { description } = frame as { readonly description?: string };
    this.byKey[key] ??= {
      name: key,
      ...(description === undefined ? {} : { summary: description }),
      payload: this.#components.show(frame),
    };
    return { $ref: `${this.#channel}/messages/${key}` };
  }
}
