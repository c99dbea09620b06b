import { TaskScheduler } from '../../src/time/task_scheduler.ts';

/** A scheduler that never yields, so that the order of events does not depend on the load of the machine. */
export class NeverLong extends TaskScheduler {
  override isLong(): boolean {
    return false;
  }
}
