const LF = 0x0a;
const CR = 0x0d;
/** Maximum length of a line, in bytes. */
export const LINE_MAX_BYTES = 64 * 1024;

/**
 * Splits a byte stream into lines at LF or CR LF, independent of network chunks. Empty lines are skipped. A line longer
 * than LINE_MAX_BYTES is dropped, so memory is bounded. Invalid UTF-8 becomes U+FFFD.
 */
export class LineSplitter {
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Buffer of the incomplete line, which is its first `#length` bytes. Grows to the longest line. */
  #begun = new Uint8Array(512);
  #length = 0;
  #isOverlong = false;
  #overlongLines = 0;

  /** Number of lines dropped because of their length. */
  get overlongLines(): number {
    return this.#overlongLines;
  }

  /** Size of the buffer in bytes. */
  get heldBytes(): number {
    return this.#begun.length;
  }

  /** Adds a chunk and returns the lines that it completes, without line breaks. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      const line = this.#complete(chunk.subarray(start, end));
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  /** Returns the line that ends with these bytes; empty if it is blank or too long. */
  #complete(end: Uint8Array): string {
    let bytes = end;
    if (this.#length > 0 || this.#isOverlong || end.length > LINE_MAX_BYTES) {
      this.#keep(end);
      bytes = this.#begun.subarray(0, this.#length);
    }
    this.#length = 0;
    this.#isOverlong = false;
    const last = bytes[bytes.length - 1] === CR ? bytes.length - 1 : bytes.length;
    return this.#utf8.decode(bytes.subarray(0, last));
  }

  #keep(part: Uint8Array): void {
    if (this.#isOverlong || part.length === 0) return;
    const length = this.#length + part.length;
    if (length > LINE_MAX_BYTES) {
      this.#isOverlong = true;
      this.#overlongLines++;
      this.#length = 0;
      return;
    }
    if (length > this.#begun.length) {
      const larger = new Uint8Array(Math.min(LINE_MAX_BYTES, Math.max(length, 2 * this.#begun.length)));
      larger.set(this.#begun.subarray(0, this.#length));
      this.#begun = larger;
    }
    this.#begun.set(part, this.#length);
    this.#length = length;
  }
}
