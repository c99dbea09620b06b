import { openShapeChecks } from '../src/fence_index/shape_checks.ts';
import { look } from '../src/model/borrowed.ts';
import { pack, type ShapeReply, unpackShape } from '../src/wire/messages.ts';
import { taskLoop } from './task_loop.ts';

/** Thread that checks large geometries. */
const checks = await openShapeChecks();

export default taskLoop({
  run(bytes) {
    const asked = unpackShape(look(bytes));
    const problem =
      'fence' in asked ? checks.regionProblem(asked.fence) : checks.polygonProblem(asked.polygon, asked.path);
    return pack({ problem } satisfies ShapeReply);
  },
});
