import type { Sink } from '../model/sink.ts';
import type { OpenedSender, SenderDeps } from './sender.ts';

/** Opens the connection of a sink. Loads only the code of its type. */
export async function openSender(sink: Sink, deps: SenderDeps): Promise<OpenedSender> {
  switch (sink.type) {
    case 'webhook':
      return (await import('./webhook.ts')).openWebhook(sink, deps);
    case 'kafka':
      return (await import('./kafka.ts')).openKafka(sink, deps);
    case 'hub':
      return (await import('./hub.ts')).openHub(sink, deps);
    case 'nats':
      return (await import('./nats.ts')).openNats(sink, deps);
    case 'email':
      return (await import('./email.ts')).openEmail(sink, deps);
  }
}
