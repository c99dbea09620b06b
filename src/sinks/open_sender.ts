import type { Sink } from '../model/sink.ts';
import type { OpenedSender, SenderDeps } from './sender.ts';

/** Opens the connection of a sink. Loads only the code of its type. Each attempt to deliver is a span. */
export async function openSender(sink: Sink, deps: SenderDeps): Promise<OpenedSender> {
  const opened = await openByType(sink, deps);
  const { startSpan } = deps;
  if (startSpan === undefined) return opened;
  const { sender } = opened;
  const attributes = { 'hub.sink.id': sink.id, 'hub.sink.type': sink.type };
  return {
    ...opened,
    sender: {
      close: () => sender.close(),
      async send(events) {
        const span = startSpan(`deliver ${sink.type}`, attributes);
        const outcome = await sender.send(events, span.traceparent);
        span.end(outcome.what === 'delivered' ? undefined : outcome.why);
        return outcome;
      },
    },
  };
}

async function openByType(sink: Sink, deps: SenderDeps): Promise<OpenedSender> {
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
