/** What is used here of the package, which has no types of its own. */
declare module 'dxf' {
  export interface Entity {
    readonly type: string;
    readonly layer?: string;
    readonly handle?: string;
    readonly vertices?: readonly { readonly x: number; readonly y: number; readonly bulge?: number }[];
    readonly visible?: boolean;
    /** 1 if it is not in the model. */
    readonly paperSpace?: number;
    /** -1 where something is seen from behind: it was mirrored. */
    readonly extrusionZ?: number;
    /** Of an `INSERT`: the name of what it puts there, and how many times. */
    readonly block?: string;
    readonly rowCount?: number;
    readonly columnCount?: number;
  }

  export interface Block {
    readonly name: string;
    /** The file that has it, where it is another one. */
    readonly xref?: string;
    readonly entities: readonly Entity[];
  }

  export interface Parsed {
    readonly header: { readonly insUnits?: number };
    readonly blocks: readonly Block[];
    readonly entities: readonly Entity[];
  }

  /** A block that does not end has no entities. */
  export function parseString(
    text: string,
  ): Parsed & { readonly blocks: readonly (Omit<Block, 'entities'> & Partial<Block>)[] };
  /** The entities with those of the blocks that they put somewhere; members that it does not know stay. */
  export function denormalise(parsed: Parsed): Entity[];
  /** For each of those of `denormalise`, in their order, the line that it draws, which is empty for what is none. */
  export function toPolylines(parsed: Parsed): {
    readonly polylines: readonly { readonly vertices: readonly (readonly number[])[] }[];
  };
}
