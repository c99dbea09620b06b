/** The worker of thread.test.ts: sends back what it gets, counts its runs, and does what the first byte says. */
const SLOWLY = 1;
const FAILING = 2;
const DYING = 3;

let runs = 0;

async function echo(bytes: Uint8Array): Promise<Uint8Array> {
  runs++;
  if (bytes[0] === SLOWLY) await new Promise((resolve) => setTimeout(resolve, 60_000));
  if (bytes[0] === FAILING) throw new Error(`failed in run ${runs}`);
  if (bytes[0] === DYING) process.exit(7);
  return new Uint8Array([...bytes, runs]);
}

export { echo as default };
