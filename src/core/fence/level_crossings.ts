/**
 * Changes of the area that a moving object is in.
 *
 * The separation of an object from a fence is its distance outside, and minus its depth inside. It changes by at most a
 * meter per meter of the way. So its values at the ends of a piece bound it between them: if no level lies within the
 * bounds, the area does not change there. All other pieces are halved, the longest first, until they are short enough.
 * That is the method of Lipschitz bisection (S. Piyavskii, 1972), here for the crossings of levels instead of a minimum.
 */

/** A separation in meters as a function of the fraction of the way from 0 to 1. */
export interface SeparationOnWay {
  readonly at: (fraction: number) => number;
  /** Bound of its change over the whole way, in meters. */
  readonly meters: number;
  /** Levels in meters, ascending: an area ends with its upper level, which belongs to it. */
  readonly levels: readonly number[];
  /** Fraction below which a piece is not halved. */
  readonly least: number;
}

/** A change to another area. */
export interface AreaChange {
  /** Fraction of the way: the middle of a piece that is not halved. */
  readonly fraction: number;
  /** Number of levels below the separation. */
  readonly area: number;
}

/**
 * Maximum number of separations computed on a way, and how many of them may search for changes that are not known yet.
 * Along an edge, where each piece may reach another area, the pieces are halved until then.
 */
const [SAMPLES_MAX, SEARCH_MAX] = [512, 256] as const;

interface Sample {
  readonly fraction: number;
  readonly separation: number;
}

/** Returns the changes in order, without areas that the object is in for at most the shortest piece. */
export function areaChanges(way: SeparationOnWay): AreaChange[] {
  const sample = (fraction: number): Sample => ({ fraction, separation: way.at(fraction) });
  let samples = [sample(0), sample(1)];
  for (let count = 2; ; ) {
    const finer: Sample[] = [samples[0] as Sample];
    for (let i = 1; i < samples.length; i++) {
      const [from, to] = [samples[i - 1] as Sample, samples[i] as Sample];
      if (count < limit(way, from, to) && mayChange(way, from, to)) {
        finer.push(sample((from.fraction + to.fraction) / 2));
        count++;
      }
      finer.push(to);
    }
    if (finer.length === samples.length) break;
    samples = finer;
  }
  return changesBetween(samples, way);
}

function changesBetween(samples: readonly Sample[], { levels, least }: SeparationOnWay): AreaChange[] {
  const changes: AreaChange[] = [];
  const first = areaAt(levels, (samples[0] as Sample).separation);
  let last = first;
  for (let i = 1; i < samples.length; i++) {
    const [from, to] = [samples[i - 1] as Sample, samples[i] as Sample];
    const area = areaAt(levels, to.separation);
    if (area === last) continue;
    const fraction = (from.fraction + to.fraction) / 2;
    const before = changes.at(-1);
    const isTouch = before !== undefined && fraction - before.fraction <= least;
    if (isTouch && (changes.at(-2)?.area ?? first) === area) changes.pop();
    else changes.push({ fraction, area });
    last = area;
  }
  return changes;
}

/** Returns the number of samples up to which a piece is halved. */
function limit({ levels }: SeparationOnWay, from: Sample, to: Sample): number {
  return areaAt(levels, from.separation) === areaAt(levels, to.separation) ? SEARCH_MAX : SAMPLES_MAX;
}

/** Whether a piece that is long enough to be halved may reach another area. */
function mayChange({ levels, meters, least }: SeparationOnWay, from: Sample, to: Sample): boolean {
  const width = to.fraction - from.fraction;
  if (width <= least) return false;
  if (areaAt(levels, from.separation) !== areaAt(levels, to.separation)) return true;
  const middle = (from.separation + to.separation) / 2;
  const reach = (meters * width) / 2;
  return areaAt(levels, middle - reach) !== areaAt(levels, middle + reach);
}

function areaAt(levels: readonly number[], separation: number): number {
  let area = 0;
  while (area < levels.length && separation > (levels[area] as number)) area++;
  return area;
}
