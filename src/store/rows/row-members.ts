/**
 * Reads some members of a stored record without decoding the others: a listing shows five of some twenty. docs/formats/row.md
 *
 * Owns: steps through the MessagePack of a record. Knows nothing of: which members there are, who wants them.
 * Rules: it reads only payloads whose checksum agreed. What it does not know it reports instead of guessing, by null or -1, and
 * the record is then decoded as a whole.
 */

/** What is behind the bytes of a value that cannot be stepped over. */
export const NOWHERE = -1

const FIXMAP = 0x80
const MAP16 = 0xde
const FIXSTR = 0xa0
const STR8 = 0xd9
const STR16 = 0xda
const NIL = 0xc0
const FALSE = 0xc2
const TRUE = 0xc3
const FLOAT64 = 0xcb
const UINT8 = 0xcc
const UINT16 = 0xcd
const UINT32 = 0xce
const NOT_ASCII = 0x80

/** Bytes of a value of fixed length, its first one included, from 0xc0 on; 0: it says its length itself, or is no value. */
const FIXED = [
  1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 3, 4, 6, 10, 18, 0, 0, 0, 0, 0, 0, 0,
]

/** A place in the payload of one record. */
export class RowMembers {
  readonly bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get at(): number {
    return this.#at
  }

  /** How many members the map has that begins here, and steps to the first; -1: here is no map. */
  enterMap(): number {
    const head = this.#byte(this.#at)
    if (head >= FIXMAP && head < FIXMAP + 16) {
      this.#at++
      return head - FIXMAP
    }
    if (head !== MAP16) return NOWHERE
    this.#at += 3
    return this.#uint(this.#at - 2, 2)
  }

  /** Length of the short text that begins here, and steps to its first byte; -1: here is none. */
  enterName(): number {
    const head = this.#byte(this.#at)
    if (head < FIXSTR || head >= FIXSTR + 32) return NOWHERE
    this.#at++
    return head - FIXSTR
  }

  /** Whether the name that begins here, of the same length as `name`, is this one. */
  isName(name: Uint8Array): boolean {
    const { bytes } = this
    for (let i = 0; i < name.length; i++) if (bytes[this.#at + i] !== name[i]) return false
    return true
  }

  step(bytes: number): void {
    this.#at += bytes
  }

  /** Whether here is this text, of less than 32 bytes; steps over it then. */
  takeText(text: Uint8Array): boolean {
    const { bytes } = this
    const at = this.#at
    if (bytes[at] !== FIXSTR + text.length) return false
    for (let i = 0; i < text.length; i++) if (bytes[at + 1 + i] !== text[i]) return false
    this.#at = at + 1 + text.length
    return true
  }

  /** Null: here is no text of less than 64 KiB. */
  text(): string | null {
    const start = this.#startOfText()
    if (start === NOWHERE) return null
    const { bytes } = this
    const end = this.#at
    for (let at = start; at < end; at++)
      if ((bytes[at] ?? 0) >= NOT_ASCII) return bytes.toString('utf8', start, end)
    return bytes.toString('latin1', start, end)
  }

  /** Null: here is no whole number from 0 on, or one in a form that is not expected. */
  wholeNumber(): number | null {
    const at = this.#at
    const head = this.#byte(at)
    if (head < FIXMAP) {
      this.#at++
      return head
    }
    switch (head) {
      case UINT8:
        return this.#number(2, this.#uint(at + 1, 1))
      case UINT16:
        return this.#number(3, this.#uint(at + 1, 2))
      case UINT32:
        return this.#number(5, this.#uint(at + 1, 4))
      case FLOAT64:
        return at + 9 > this.bytes.length ? null : this.#number(9, this.bytes.readDoubleBE(at + 1))
      default:
        return null
    }
  }

  /** Null: here is neither. */
  flag(): boolean | null {
    const head = this.#byte(this.#at)
    if (head !== TRUE && head !== FALSE) return null
    this.#at++
    return head === TRUE
  }

  get isNil(): boolean {
    return this.#byte(this.#at) === NIL
  }

  /** Steps over the value that begins here, with all that is in it. False: it cannot be. */
  stepOver(): boolean {
    const end = this.#endOf(this.#at)
    if (end === NOWHERE || end > this.bytes.length) return false
    this.#at = end
    return true
  }

  #startOfText(): number {
    const head = this.#byte(this.#at)
    let start = this.#at + 1
    let length = head - FIXSTR
    if (head === STR8 || head === STR16) {
      const width = head === STR8 ? 1 : 2
      length = this.#uint(start, width)
      start += width
    } else if (length < 0 || length >= 32) return NOWHERE
    if (start + length > this.bytes.length) return NOWHERE
    this.#at = start + length
    return start
  }

  #number(bytes: number, value: number): number | null {
    this.#at += bytes
    return Number.isSafeInteger(value) && value >= 0 ? value : null
  }

  #endOf(at: number): number {
    const head = this.#byte(at)
    if (head < FIXMAP || head >= 0xe0) return at + 1
    if (head < 0x90) return this.#endOfMany(at + 1, 2 * (head - FIXMAP))
    if (head < FIXSTR) return this.#endOfMany(at + 1, head - 0x90)
    if (head < NIL) return at + 1 + head - FIXSTR
    const fixed = FIXED[head - NIL] ?? 0
    return fixed > 0 ? at + fixed : this.#endOfMeasured(at, head)
  }

  /** Of a value that names its length, in one, two or four bytes. */
  #endOfMeasured(at: number, head: number): number {
    // bin, ext, str: three heads each, for one, two and four bytes. array, map: two each, for two and four.
    if (head >= 0xc4 && head <= 0xc6) return this.#endOfBytes(at, 1 << (head - 0xc4), 0)
    if (head >= 0xc7 && head <= 0xc9) return this.#endOfBytes(at, 1 << (head - 0xc7), 1)
    if (head >= STR8 && head <= 0xdb) return this.#endOfBytes(at, 1 << (head - STR8), 0)
    if (head < 0xdc) return NOWHERE
    const width = head % 2 === 0 ? 2 : 4
    const values = this.#uint(at + 1, width) * (head < MAP16 ? 1 : 2)
    return this.#endOfMany(at + 1 + width, values)
  }

  #endOfBytes(at: number, width: number, more: number): number {
    return at + 1 + width + more + this.#uint(at + 1, width)
  }

  #endOfMany(from: number, values: number): number {
    let at = from
    for (let i = 0; i < values; i++) {
      if (at >= this.bytes.length) return NOWHERE
      at = this.#endOf(at)
      if (at === NOWHERE) return NOWHERE
    }
    return at
  }

  #uint(at: number, width: number): number {
    let value = 0
    for (let i = 0; i < width; i++) value = value * 256 + this.#byte(at + i)
    return value
  }

  /** Behind the end lies what no value begins with. */
  #byte(at: number): number {
    return this.bytes[at] ?? 0xc1
  }
}
