import { Server } from 'hyper-express';
import { serve } from './process/remote.ts';

/** The baseline: a hyper-express server that parses each body as JSON and answers 204. Its parent process starts it. */
const commands = {
  /** Listens on a free port of the loopback interface and returns the port. */
  async listen(): Promise<number> {
    const server = new Server({ max_body_length: 64 << 20 });
    server.put('/*', async (request, response) => {
      await request.json();
      response.status(204).send();
    });
    server.ws('/*', { message_type: 'String', max_payload_length: 64 << 20, idle_timeout: 0 }, (socket) => {
      socket.on('message', (text: string) => {
        JSON.parse(text);
      });
    });
    await server.listen(0, '127.0.0.1');
    return server.port;
  },
};

export type BareCommands = typeof commands;

serve(commands);
