import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports CPU times in hundredths of a second. */
const TICKS_PER_SECOND = 100;
const KIB_PER_MB = 1_000_000 / 1024;

/** Seconds of CPU time that all threads of a process have used so far, in user and system mode. */
export function cpuSeconds(pid: number): number {
  return ticksOf(readFileSync(`/proc/${pid}/stat`, 'utf8')) / TICKS_PER_SECOND;
}

/** Seconds of CPU time that the main thread of a process has used so far. */
export function frontCpuSeconds(pid: number): number {
  return ticksOf(readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')) / TICKS_PER_SECOND;
}

/** Resident memory of a process in MB (10^6 bytes). */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) / KIB_PER_MB;
}

/** Resident memory of the children of a process, across all threads that started them, in MB. */
export function childrenMb(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => {
      const children = ifThere(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
      return (children ?? '').split(' ').filter(Boolean);
    })
    .reduce((sum, child) => sum + (ifThere(() => residentMb(Number(child))) || 0), 0);
}

/** Number of wake-ups of each thread of a process, by thread id; the main thread comes first. */
export function wakeUps(pid: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const thread of [String(pid), ...readdirSync(`/proc/${pid}/task`)]) {
    const status = ifThere(() => readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')) ?? '';
    found.set(thread, Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0));
  }
  return found;
}

/** Reads a file of a thread or a process, which may have exited. */
function ifThere<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** utime and stime of a line of /proc/<pid>/stat. The program name may contain spaces, but ends with a parenthesis. */
export function ticksOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
