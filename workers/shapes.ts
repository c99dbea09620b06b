import { move } from 'piscina';
import { openShapeChecks } from '../src/fence_index/shape_checks.ts';
import { pack, type ShapeReply, unpackShape } from '../src/wire/messages.ts';

/** Thread that checks large geometries. */
const checks = await openShapeChecks();

export default function run(task: Uint8Array | 'ready'): unknown {
  if (task === 'ready') return undefined;
  const asked = unpackShape(task);
  const problem =
    'fence' in asked ? checks.regionProblem(asked.fence) : checks.polygonProblem(asked.polygon, asked.path);
  return move(pack({ problem } satisfies ShapeReply));
}
