import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AtEnd } from '../durability/hub_process.ts';
import { SDK } from './sdk_document.ts';
import type { Known, SdkRun } from './sdk_run.ts';

const AGENT = new URL('python/agent.py', import.meta.url).pathname;

interface Answer {
  readonly id: number;
  readonly error?: string | null;
  readonly known?: Known;
}

/** Environment in which Python finds the SDK. */
export const PYTHON_ENV = { ...process.env, PYTHONPATH: `${SDK}python/src`, PYTHONDONTWRITEBYTECODE: '1' };

/** Starts a client with the Python SDK in a process of its own. `tools` is the folder of its Python environment. */
export async function startPython(tools: string, url: string, atEnd: AtEnd): Promise<SdkRun> {
  const child = spawn(join(tools, 'bin/python'), [AGENT, url], { env: PYTHON_ENV, stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(() => void child.kill('SIGKILL'));
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  const expect = (id: number): Promise<Answer> => {
    const answered = Promise.withResolvers<Answer>();
    waiting.set(id, answered);
    return answered.promise;
  };
  createInterface(child.stdout).on('line', (line) => {
    const answer = JSON.parse(line) as Answer;
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
  });
  const exit = once(child, 'exit');
  void exit.then(([code]) => {
    for (const { reject } of waiting.values()) reject(new Error(`The Python client has ended with code ${code}`));
  });
  let ids = 0;
  const ask = (command: object): Promise<Answer> => {
    const id = ++ids;
    child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    return expect(id);
  };
  await expect(0);
  return {
    async publish(locations) {
      const { error } = await ask({ publish: locations });
      if (error != null) throw new Error(error);
    },
    async known() {
      const { known } = await ask({});
      if (known === undefined) throw new Error('The Python client does not say what it knows');
      return known;
    },
    async close() {
      child.stdin.end();
      await exit;
    },
  };
}
