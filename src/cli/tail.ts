import { Command, InvalidArgumentError } from 'commander';
import { TOPICS } from '../model/topics.ts';
import { CliError } from './command_error.ts';
import { openEventStream } from './event_stream.ts';
import { hubOption, interruption } from './options.ts';

type Params = Readonly<Record<string, string | readonly string[]>>;

/** `tail <topic>`: prints a topic's events, one JSON per line, until interrupted. */
export function tailCommand(): Command {
  return new Command('tail')
    .description("print a topic's events, one JSON object per line (npm run --silent suppresses other output)")
    .argument('<topic>', `${Object.keys(TOPICS).join(', ')}; the first three also with :geojson`)
    .option(
      '--param <key=value>',
      'filter or transformation; repeatable, and values of the same key are alternatives',
      param,
    )
    .addOption(hubOption())
    .action(tail);
}

/** Adds `key=value` to the parameters. Values of a repeated key become a list. */
export function param(text: string, earlier: Params = {}): Params {
  const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === '') throw new InvalidArgumentError('It must look like fence_id=9d2c.');
  const before = earlier[key];
  return { ...earlier, [key]: before === undefined ? value : [before, value].flat() };
}

async function tail(topic: string, { hub, param: params = {} }: { hub: string; param?: Params }): Promise<void> {
  const signal = interruption();
  const onEvents = (_: string, payload: readonly unknown[]) => {
    process.stdout.write(payload.map((event) => `${JSON.stringify(event)}\n`).join(''));
  };
  try {
    const stream = await openEventStream(hub, { subscriptions: [{ topic, params }], onEvents, signal });
    // With `tail … | head`, head closes the pipe after its last line.
    process.stdout.on('error', () => stream.close());
    const why = await stream.ended;
    if (why !== undefined) throw new CliError(why);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
