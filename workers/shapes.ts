import { move } from 'piscina';
import { openShapeChecks } from '../src/fence_index/shape_checks.ts';
import { pack, type ShapeReply, unpackShape } from '../src/wire/messages.ts';

/** Checks large geometries. No bytes at all, which come as their number: it is ready. */
const checks = await openShapeChecks();

export default function run(bytes: Uint8Array | number): unknown {
  if (typeof bytes === 'number') return 0;
  const asked = unpackShape(bytes);
  const problem =
    asked.kind === 'region' ? checks.regionProblem(asked.fence) : checks.polygonProblem(asked.polygon, asked.path);
  return move(pack({ problem } satisfies ShapeReply));
}
