import type { Sink } from '../model/sink.ts';
import type { OpenedSender, SenderDeps } from './sender.ts';

/** Opens the connection of a sink. Loads only the code of its type. */
export async function openSender(sink: Sink, deps: SenderDeps): Promise<OpenedSender> {
  const { openWebhook } = await import('./webhook.ts');
  return openWebhook(sink, deps);
}
