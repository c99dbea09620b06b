import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** Key with which the tests sign. */
export const SIGNING_KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A request that a webhook received. */
export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Answer = (request: ReceivedRequest, response: ServerResponse) => void;

export interface WebhookServer {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** Answers the following requests; by default with 204. */
  answer: Answer;
  /** Resolves when at least `count` requests have arrived. */
  until(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on the loopback interface that records requests. With `port`, on that port. */
export async function openWebhookServer(port = 0): Promise<WebhookServer> {
  const requests: ReceivedRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((message, response) => {
    void received(message).then((request) => {
      requests.push(request);
      opened.answer(request, response);
      for (const each of waiting) if (requests.length >= each.count) each.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const opened: WebhookServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests,
    answer: (_request, response) => response.writeHead(204).end(),
    until(count) {
      return new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      });
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return opened;
}

async function received(message: IncomingMessage): Promise<ReceivedRequest> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return { headers: message.headers as Readonly<Record<string, string>>, body: Buffer.concat(parts).toString() };
}

/** Throws if the signature of a request is not valid. */
export function verifySignature({ headers, body }: ReceivedRequest, key = SIGNING_KEY): void {
  new Webhook(key).verify(body, headers);
}
