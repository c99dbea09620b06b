import type { Location } from '../../model/location.ts';
import type { ReportColumn } from './columns.ts';
import { LineSplitter } from './line_splitter.ts';
import { type Belonging, type Locate, locate } from './locate.ts';
import { type RtlsMessage, readMessage } from './message.ts';

/** Result of reading a chunk of a stream. */
export interface ReadResult {
  readonly locations: Location[];
  /** Whether the chunk contained a message of the protocol. */
  readonly hasMessage: boolean;
  /** The last announced keep-alive interval; undefined if none was announced. */
  readonly keepAliveSeconds: number | undefined;
}

/** Counters of a connection's lines, across reconnects. */
export interface LineCounts {
  /** Lines that are not messages of the protocol. */
  unknown_messages: number;
  /** Lines over the limit. */
  overlong_lines: number;
  /** Locate messages without a location, by the missing field. */
  no_tag_id: number;
  no_position: number;
  /** Locations that have the time of receipt because theirs is missing. */
  no_timestamp: number;
}

export function newLineCounts(): LineCounts {
  return { unknown_messages: 0, overlong_lines: 0, no_tag_id: 0, no_position: 0, no_timestamp: 0 };
}

/** Receives usable and unusable lines. */
export interface LineListener {
  useful(): void;
  useless(line: string): void;
  unknown(first: string): void;
}

/** Maximum number of definitions of formats, and of fields. */
const DEFINITIONS_MAX = 64;

/**
 * Parses the bytes of a stream, from connect to close, to locations. Definitions are valid only for that stream. No
 * input makes the reader throw or grow without bound.
 */
export class RtlsStreamReader {
  readonly #belonging: Belonging;
  readonly #counts: LineCounts;
  readonly #listener: LineListener;
  readonly #lines = new LineSplitter();
  readonly #layouts = new Map<string, readonly ReportColumn[]>();
  readonly #fields = new Map<string, { readonly tag: string; readonly type: string }>();

  constructor(belonging: Belonging, counts: LineCounts, listener: LineListener) {
    this.#belonging = belonging;
    this.#counts = counts;
    this.#listener = listener;
  }

  /** Names of the fields declared by the vendor, for diagnosis. */
  get declaredFields(): readonly string[] {
    return [...this.#fields.keys()];
  }

  push(chunk: Uint8Array): ReadResult {
    const locations: Location[] = [];
    let hasMessage = false;
    let keepAliveSeconds: number | undefined;
    const overlongBefore = this.#lines.overlongLines;
    for (const line of this.#lines.push(chunk)) {
      if (line.trim() === '') continue;
      const message = readMessage(line, this.#layouts);
      if (message.kind === 'keep_alive' && message.seconds > 0) keepAliveSeconds = message.seconds;
      if (this.#isUseful(message, locations)) {
        hasMessage = true;
        this.#listener.useful();
      } else this.#listener.useless(line);
    }
    this.#counts.overlong_lines += this.#lines.overlongLines - overlongBefore;
    return { locations, hasMessage, keepAliveSeconds };
  }

  #isUseful(message: RtlsMessage, locations: Location[]): boolean {
    switch (message.kind) {
      case 'keep_alive':
        return true;
      case 'field_definition':
        return this.#define(this.#fields, message.name, { tag: message.tag, type: message.type });
      case 'locate_definition':
        return this.#define(this.#layouts, message.layout, message.columns);
      case 'locate':
        return this.#locate(message.locate, locations);
      case 'unknown':
        return this.#unknown(message.first);
    }
  }

  #define<T>(definitions: Map<string, T>, name: string, definition: T): boolean {
    if (definitions.size >= DEFINITIONS_MAX && !definitions.has(name)) return this.#unknown(name);
    definitions.set(name, definition);
    return true;
  }

  #locate(message: Locate, locations: Location[]): boolean {
    const located = locate(message, this.#belonging);
    if (typeof located === 'string') {
      this.#counts[located]++;
      return false;
    }
    if (!located.isTimed) this.#counts.no_timestamp++;
    locations.push(located.location);
    return true;
  }

  #unknown(first: string): boolean {
    this.#counts.unknown_messages++;
    this.#listener.unknown(first);
    return false;
  }
}
