import Type, { type Static, type TObject } from 'typebox';
import type { Rest } from './rest.ts';

/** A tool: a question to the API, whose answer fits into 25 kB. */
export interface Tool<Input extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** Whether it changes something. */
  readonly isWrite?: true;
  run(args: Static<Input>, context: ToolContext): Promise<object>;
}

export interface ToolContext {
  readonly rest: Rest;
  readonly nowMs: number;
}

/** Returns a tool whose `run` takes arguments of its `input`. */
export function tool<Input extends TObject>(row: Tool<Input>): Tool {
  return row as unknown as Tool;
}

/** Schema of a text of at most 1024 characters. */
export const text = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description });
export const optionalText = (description: string) => Type.Optional(text(description));
/** Argument of tools whose answer may have several parts. */
export const CURSOR = { cursor: optionalText('next_cursor of the previous answer, to continue it') };
/** Argument of tools for trackables or providers. */
export const KIND = Type.Union([Type.Literal('trackable'), Type.Literal('provider')], {
  description: 'trackable, a tracked thing, or provider, a tag or other source of locations',
});
