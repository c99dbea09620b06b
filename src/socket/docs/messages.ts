import type { TObject } from 'typebox';
import type { Components, DocumentSchema } from '../../model/components.ts';

/** Messages of a channel, each listed once. */
export class Messages {
  readonly byKey: Record<string, DocumentSchema> = {};
  readonly #components: Components;
  readonly #channel: string;

  /** `channel` is the reference of the channel. */
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
