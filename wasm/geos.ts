import initGeos from 'geos-wasm';

/**
 * Functions of GEOS that the hub uses. One instance serves the whole thread. Its memory is managed manually: every
 * prepared polygon must be destroyed.
 */
export interface Geos {
  /** Prepares a polygon of closed rings x, y, x, y …: the exterior, then the holes. */
  prepare(rings: readonly Float64Array[]): PreparedPolygon;
  /** Whether the point is inside the polygon or on its edge. */
  covers(polygon: PreparedPolygon, x: number, y: number): boolean;
  /** Whether the polygon of one closed ring, shifted by `dx`, shares a point with the polygon. */
  intersects(polygon: PreparedPolygon, ring: Float64Array, dx: number): boolean;
  destroy(polygon: PreparedPolygon): void;
  /** Returns why and where a polygon is invalid according to GEOS; undefined for a valid polygon. */
  whyInvalid(rings: readonly Float64Array[]): Invalidity | undefined;
  /** Returns the number of prepared polygons that are not destroyed. */
  preparedCount(): number;
  /** Returns the size of the memory of GEOS in bytes. */
  memoryBytes(): number;
}

/** A prepared polygon, as addresses in the memory of GEOS. */
export interface PreparedPolygon {
  readonly geometry: number;
  readonly prepared: number;
}

export interface Invalidity {
  readonly reason: string;
  readonly x: number;
  readonly y: number;
}

let opened: Promise<Geos> | undefined;

/** Opens GEOS, once per thread. */
export function openGeos(): Promise<Geos> {
  opened ??= start();
  return opened;
}

/**
 * Raw functions; all take the context first. They return 0, NULL or 2 on failure and report the reason to a handler.
 */
interface Raw {
  readonly _ctx: number;
  readonly Module: {
    readonly HEAPF64: Float64Array;
    readonly HEAPU32: Uint32Array;
    _malloc(bytes: number): number;
    _free(address: number): void;
    UTF8ToString(address: number): string;
    _GEOSCoordSeq_copyFromBuffer_r(context: number, buffer: number, size: number, hasZ: number, hasM: number): number;
    _GEOSGeom_createLinearRing_r(context: number, sequence: number): number;
    _GEOSGeom_createPolygon_r(context: number, shell: number, holes: number, count: number): number;
    _GEOSGeom_destroy_r(context: number, geometry: number): void;
    _GEOSPrepare_r(context: number, geometry: number): number;
    _GEOSPreparedGeom_destroy_r(context: number, prepared: number): void;
    _GEOSPreparedIntersectsXY_r(context: number, prepared: number, x: number, y: number): number;
    _GEOSPreparedIntersects_r(context: number, prepared: number, geometry: number): number;
    _GEOSisValidDetail_r(context: number, geometry: number, flags: number, reason: number, location: number): number;
    _GEOSGeomGetX_r(context: number, geometry: number, x: number): number;
    _GEOSGeomGetY_r(context: number, geometry: number, y: number): number;
    _GEOSFree_r(context: number, address: number): void;
  };
}

async function start(): Promise<Geos> {
  let failure = 'no reason given';
  // The default handlers throw through WASM frames, which leaks, and write to the console.
  const remember = (message: string): void => {
    failure = message;
  };
  const raw = (await initGeos({ errorHandler: remember, noticeHandler: () => {} })) as unknown as Raw;
  return new OpenGeos(raw, () => failure);
}

class OpenGeos implements Geos {
  readonly #module: Raw['Module'];
  readonly #context: number;
  readonly #failure: () => string;
  /** Address at which GEOS writes results: two machine words followed by a double. */
  readonly #results: number;
  #prepared = 0;

  constructor(raw: Raw, failure: () => string) {
    this.#module = raw.Module;
    this.#context = raw._ctx;
    this.#failure = failure;
    this.#results = raw.Module._malloc(16);
  }

  prepare(rings: readonly Float64Array[]): PreparedPolygon {
    const geometry = this.#polygon(rings, 0);
    const prepared = this.#module._GEOSPrepare_r(this.#context, geometry);
    if (prepared === 0) {
      this.#module._GEOSGeom_destroy_r(this.#context, geometry);
      throw new Error(`Cannot prepare a polygon: ${this.#failure()}`);
    }
    this.#prepared++;
    return { geometry, prepared };
  }

  // hot
  covers(polygon: PreparedPolygon, x: number, y: number): boolean {
    const answer = this.#module._GEOSPreparedIntersectsXY_r(this.#context, polygon.prepared, x, y);
    if (answer > 1) throw new Error(`Cannot test the point [${x}, ${y}]: ${this.#failure()}`);
    return answer === 1;
  }

  intersects(polygon: PreparedPolygon, ring: Float64Array, dx: number): boolean {
    const geometry = this.#polygon([ring], dx);
    const answer = this.#module._GEOSPreparedIntersects_r(this.#context, polygon.prepared, geometry);
    this.#module._GEOSGeom_destroy_r(this.#context, geometry);
    if (answer > 1) throw new Error(`Cannot intersect polygons: ${this.#failure()}`);
    return answer === 1;
  }

  destroy({ geometry, prepared }: PreparedPolygon): void {
    this.#module._GEOSPreparedGeom_destroy_r(this.#context, prepared);
    this.#module._GEOSGeom_destroy_r(this.#context, geometry);
    this.#prepared--;
  }

  whyInvalid(rings: readonly Float64Array[]): Invalidity | undefined {
    const module = this.#module;
    const context = this.#context;
    const results = this.#results;
    const geometry = this.#polygon(rings, 0);
    module.HEAPU32.fill(0, results >> 2, (results >> 2) + 2);
    const answer = module._GEOSisValidDetail_r(context, geometry, 0, results, results + 4);
    module._GEOSGeom_destroy_r(context, geometry);
    if (answer > 1) return { reason: this.#failure(), x: rings[0]?.[0] ?? Number.NaN, y: rings[0]?.[1] ?? Number.NaN };
    if (answer === 1) return undefined;
    const reason = module.HEAPU32[results >> 2] ?? 0;
    const location = module.HEAPU32[(results >> 2) + 1] ?? 0;
    const text = reason === 0 ? 'Invalid' : module.UTF8ToString(reason);
    if (reason !== 0) module._GEOSFree_r(context, reason);
    const found = { reason: text, x: this.#coordinate('X', location), y: this.#coordinate('Y', location) };
    if (location !== 0) module._GEOSGeom_destroy_r(context, location);
    return found;
  }

  preparedCount(): number {
    return this.#prepared;
  }

  memoryBytes(): number {
    return this.#module.HEAPF64.byteLength;
  }

  #coordinate(axis: 'X' | 'Y', point: number): number {
    if (point === 0) return Number.NaN;
    const at = this.#results + 8;
    const answer = this.#module[`_GEOSGeomGet${axis}_r`](this.#context, point, at);
    return answer === 1 ? (this.#module.HEAPF64[at >> 3] as number) : Number.NaN;
  }

  /** Returns the address of a new polygon. GEOS owns the rings and holes passed to it, even if it then fails. */
  #polygon(rings: readonly Float64Array[], dx: number): number {
    const module = this.#module;
    const made: number[] = [];
    for (const ring of rings) {
      const address = this.#ring(ring, dx);
      if (address !== 0) {
        made.push(address);
        continue;
      }
      for (const other of made) module._GEOSGeom_destroy_r(this.#context, other);
      throw new Error(`Cannot make a ring of ${ring.length / 2} positions: ${this.#failure()}`);
    }
    const [shell = 0, ...holes] = made;
    const list = holes.length === 0 ? 0 : module._malloc(holes.length * 4);
    if (list !== 0) module.HEAPU32.set(holes, list >> 2);
    const polygon = module._GEOSGeom_createPolygon_r(this.#context, shell, list, holes.length);
    if (list !== 0) module._free(list);
    if (polygon === 0) throw new Error(`Cannot make a polygon of ${rings.length} rings: ${this.#failure()}`);
    return polygon;
  }

  #ring(ring: Float64Array, dx: number): number {
    const module = this.#module;
    const buffer = module._malloc(ring.length * 8);
    // Allocation may have replaced the heap's views: read HEAPF64 only now.
    const heap = module.HEAPF64;
    const start = buffer >> 3;
    heap.set(ring, start);
    if (dx !== 0) for (let i = 0; i < ring.length; i += 2) heap[start + i] = (ring[i] as number) + dx;
    const sequence = module._GEOSCoordSeq_copyFromBuffer_r(this.#context, buffer, ring.length / 2, 0, 0);
    module._free(buffer);
    return sequence === 0 ? 0 : module._GEOSGeom_createLinearRing_r(this.#context, sequence);
  }
}
