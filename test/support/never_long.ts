import { TaskScheduler } from '../../src/time/turns.ts';

/** No work is so long that others have their turn: what is told when does not follow from how busy the machine is. */
export class NeverLong extends TaskScheduler {
  override isLong(): boolean {
    return false;
  }
}
