import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Event } from '../support/socket_client.ts';

/** What a tool answered. */
export interface Answered {
  readonly isError: boolean;
  readonly text: string;
  /** The text as JSON; undefined if it is none. */
  readonly body: Event;
}

/** A client of the Model Context Protocol. */
export interface Agent {
  readonly client: Client;
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<Answered>;
  close(): Promise<void>;
}

/** Connects to the server of a hub, with a token if one is given. */
export async function openAgent(origin: string, token?: string): Promise<Agent> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit: { headers } }));
  return {
    client,
    async call(name, args = {}) {
      const { content, isError = false } = await client.callTool({ name, arguments: args });
      const [first] = content as readonly { readonly type: string; readonly text?: string }[];
      const text = first?.text ?? '';
      return { isError: isError === true, text, body: parsed(text) };
    },
    close: () => client.close(),
  };
}

function parsed(text: string): Event {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
