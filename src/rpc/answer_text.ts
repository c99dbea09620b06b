import { answerId, type Call, readCall } from './call.ts';
import { type Answer, RpcRefusal, readMessage, responseText } from './message.ts';
import type { Rpc } from './rpc.ts';

export interface TextOptions {
  /** Levels that JSON may be nested; 200 when left out. */
  readonly depthMax?: number;
  /** Aborted when the caller goes: the call is canceled. */
  readonly gone?: AbortSignal;
  /**
   * Permits the method, and returns what tells the client from others (clientOf). What it throws, or rejects with, is for the
   * sender of the text.
   */
  permit(method: string): Promise<string> | string;
}

/**
 * The response to one request, both as JSON; undefined where nobody waits for one. What is wrong with the request is told as
 * an error of JSON-RPC. Rejects with what `permit` does.
 */
export async function answerText(
  rpc: Rpc,
  text: string,
  { depthMax, gone, permit }: TextOptions,
): Promise<string | undefined> {
  let value: unknown;
  try {
    value = readMessage(text, depthMax);
    const call = readCall(value);
    const client = await permit(call.method);
    return await begun(rpc, call, { client, gone });
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    rpc.refused(error.reason);
    const id = answerId(value);
    return id === undefined ? undefined : responseText(id, { error: { code: error.code, message: error.message } });
  }
}

interface Caller {
  readonly client: string;
  readonly gone: AbortSignal | undefined;
}

function begun(rpc: Rpc, call: Call, { client, gone }: Caller): Promise<string | undefined> | undefined {
  if (!call.isAnswered) {
    rpc.begin(call, { respond: () => undefined }, client);
    return undefined;
  }
  return new Promise((resolve) => {
    const respond = (answer: Answer): void => resolve(responseText(call.id, answer));
    const open = rpc.begin(call, { respond, over: () => gone?.removeEventListener('abort', cancel) }, client);
    function cancel(): void {
      open.cancel();
      resolve(undefined);
    }
    if (gone?.aborted === true) cancel();
    else gone?.addEventListener('abort', cancel, { once: true });
  });
}
