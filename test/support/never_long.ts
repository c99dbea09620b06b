import { TaskScheduler } from '../../src/time/task_scheduler.ts';

/** No work is so long that others have their turn: what is told when does not follow from how busy the machine is. */
export class NeverLong extends TaskScheduler {
  override isLong(): boolean {
    return false;
  }
}
