import { answerId, type RpcCall, readCall } from './call.ts';
import { type RpcAnswer, RpcRejection, readMessage, responseText } from './message.ts';
import type { Rpc } from './rpc.ts';

export interface TextOptions {
  /** Maximum number of levels of nested JSON; 200 by default. */
  readonly depthMax?: number;
  /** Aborted when the caller disconnects, which cancels the call. */
  readonly gone?: AbortSignal;
  /**
   * Authorizes the method. Returns the key of the client (clientOf). Errors are reported to the sender of the request.
   */
  permit(method: string): Promise<string> | string;
}

/**
 * Executes a JSON request and returns the JSON response; undefined if the caller expects none. An invalid request is
 * answered with a JSON-RPC error. Rejects with the errors of `permit`.
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
    if (!(error instanceof RpcRejection)) throw error;
    rpc.refused(error.reason);
    const id = answerId(value);
    return id === undefined ? undefined : responseText(id, { error: error.error });
  }
}

interface Caller {
  readonly client: string;
  readonly gone: AbortSignal | undefined;
}

function begun(rpc: Rpc, call: RpcCall, { client, gone }: Caller): Promise<string | undefined> | undefined {
  if (!call.isAnswered) {
    rpc.begin(call, { respond: () => undefined }, client);
    return undefined;
  }
  return new Promise((resolve) => {
    const respond = (answer: RpcAnswer): void => resolve(responseText(call.id, answer));
    const open = rpc.begin(call, { respond, over: () => gone?.removeEventListener('abort', cancel) }, client);
    function cancel(): void {
      open.cancel();
      resolve(undefined);
    }
    if (gone?.aborted === true) cancel();
    else gone?.addEventListener('abort', cancel, { once: true });
  });
}
