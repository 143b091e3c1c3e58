/**
 * The bytes of a JSON document, written one behind the other: texts in between, put together and encoded at the end, take several times as long.
 *
 * Owns: the room for them, and which characters of a text are escaped. Knows nothing of: what the document says.
 * Rule: a text gives the bytes of `JSON.stringify`, always.
 */

const FIRST_BYTES = 64 * 1024
/** Room beyond that is not kept for the next document. */
const KEPT_BYTES_MAX = 1024 * 1024
const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
const DELETE = 0x7f

export class JsonBytes {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #end = 0

  /** What was written and not taken is left out: writing it was given up. */
  begin(): void {
    this.#end = 0
  }

  /** Only ASCII, and none that JSON escapes. */
  plain(text: string): void {
    const { length } = text
    this.#reserve(length)
    const bytes = this.#bytes
    const at = this.#end
    for (let i = 0; i < length; i++) bytes[at + i] = text.charCodeAt(i)
    this.#end = at + length
  }

  /** With its quotes. */
  text(text: string): void {
    const { length } = text
    this.#reserve(length + 2)
    const bytes = this.#bytes
    let at = this.#end
    bytes[at++] = QUOTE
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i)
      if (unit < SPACE || unit > DELETE || unit === QUOTE || unit === BACKSLASH)
        return this.encoded(JSON.stringify(text))
      bytes[at++] = unit
    }
    bytes[at++] = QUOTE
    this.#end = at
  }

  /** Any text, as UTF-8. */
  encoded(json: string): void {
    this.#reserve(Buffer.byteLength(json))
    this.#end += this.#bytes.write(json, this.#end, 'utf8')
  }

  /** A copy of all that was written since `begin`. */
  take(): Buffer {
    const document = Buffer.from(this.#bytes.subarray(0, this.#end))
    if (this.#bytes.length > KEPT_BYTES_MAX) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
    this.#end = 0
    return document
  }

  #reserve(more: number): void {
    const needed = this.#end + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    larger.set(this.#bytes.subarray(0, this.#end))
    this.#bytes = larger
  }
}
