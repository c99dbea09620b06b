/** Types of the used part of the package, which has no types of its own. */
declare module 'dxf' {
  export interface Entity {
    readonly type: string;
    readonly layer?: string;
    readonly handle?: string;
    readonly vertices?: readonly { readonly x: number; readonly y: number; readonly bulge?: number }[];
    readonly visible?: boolean;
    /** 1 in paper space. */
    readonly paperSpace?: number;
    /** -1 if mirrored, as seen from behind. */
    readonly extrusionZ?: number;
    /** Name of the inserted block, and counts of rows and columns; only for `INSERT`. */
    readonly block?: string;
    readonly rowCount?: number;
    readonly columnCount?: number;
  }

  export interface Block {
    readonly name: string;
    /** Path of the external file that contains it. */
    readonly xref?: string;
    readonly entities: readonly Entity[];
  }

  export interface Parsed {
    readonly header: { readonly insUnits?: number };
    readonly blocks: readonly Block[];
    readonly entities: readonly Entity[];
  }

  /** Unterminated blocks have no entities. */
  export function parseString(
    text: string,
  ): Parsed & { readonly blocks: readonly (Omit<Block, 'entities'> & Partial<Block>)[] };
  /** Expands block insertions; preserves unknown members. */
  export function denormalise(parsed: Parsed): Entity[];
  /** Line of each entity of `denormalise`, in order; empty for other entities. */
  export function toPolylines(parsed: Parsed): {
    readonly polylines: readonly { readonly vertices: readonly (readonly number[])[] }[];
  };
}
