import { answerId, type Call, readCall } from './call.ts';
import { RpcRefusal, readMessage, responseText } from './message.ts';
import type { Rpc } from './rpc.ts';

export interface TextOptions {
  /** Levels that JSON may be nested; 200 when left out. */
  readonly depthMax?: number;
  /** Asked whether the method may be called; whatever it throws, or rejects with, is for whoever has sent the text. */
  permit(method: string): unknown;
}

/**
 * The response to one request, both as JSON; undefined where nobody waits for one. What is wrong with the request is told as
 * an error of JSON-RPC. Rejects with what `permit` does.
 */
export async function answerText(
  rpc: Rpc,
  text: string,
  { depthMax, permit }: TextOptions,
): Promise<string | undefined> {
  let value: unknown;
  try {
    value = readMessage(text, depthMax);
    const call = readCall(value);
    await permit(call.method);
    return await begun(rpc, call);
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    rpc.refused(error.reason);
    const id = answerId(value);
    return id === undefined ? undefined : responseText(id, { error: { code: error.code, message: error.message } });
  }
}

function begun(rpc: Rpc, call: Call): Promise<string> | undefined {
  if (!call.isAnswered) {
    rpc.begin(call, { respond: () => undefined });
    return undefined;
  }
  return new Promise((resolve) => {
    rpc.begin(call, { respond: (answer) => resolve(responseText(call.id, answer)) });
  });
}
