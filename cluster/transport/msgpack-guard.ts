/**
 * Checks MessagePack from outside before the decoder reads it.
 *
 * Owns: the proof that bytes contain exactly one value made of maps, arrays, strings, bytes, numbers, booleans and nil.
 * Knows nothing of: what the value means. Rule: this file allocates nothing. A decoder allocates memory for the length that an
 * array claims, so five bytes can claim a quarter of a gigabyte; here bytes that are actually present must cover every claim.
 */
export class MalformedFrameError extends Error {
  override readonly name = 'MalformedFrameError'
}

/** Deeper than any value that peers send to each other. */
const DEPTH_MAX = 16

interface Cursor {
  readonly bytes: Uint8Array
  at: number
}

export function assertPlainMsgpack(bytes: Uint8Array): void {
  const cursor: Cursor = { bytes, at: 0 }
  skipValue(cursor, 0)
  if (cursor.at !== bytes.length)
    throw new MalformedFrameError(`${bytes.length - cursor.at} bytes follow the value`)
}

function skipValue(cursor: Cursor, depth: number): void {
  if (depth > DEPTH_MAX) throw new MalformedFrameError(`Values are nested more than ${DEPTH_MAX} deep`)
  const lead = readUint(cursor, 1)
  if (lead <= 0x7f || lead >= 0xe0) return
  if (lead <= 0x8f) return skipValues(cursor, (lead & 0x0f) * 2, depth)
  if (lead <= 0x9f) return skipValues(cursor, lead & 0x0f, depth)
  if (lead <= 0xbf) return skipBytes(cursor, lead & 0x1f)
  skipTagged(cursor, lead, depth)
}

/** Every format whose first byte is only a tag. [MessagePack: formats 0xc0-0xdf] */
function skipTagged(cursor: Cursor, lead: number, depth: number): void {
  if (lead === 0xc0 || lead === 0xc2 || lead === 0xc3) return
  if (lead >= 0xc4 && lead <= 0xc6) return skipBytes(cursor, readUint(cursor, 1 << (lead - 0xc4)))
  if (lead === 0xca) return skipBytes(cursor, 4)
  if (lead === 0xcb) return skipBytes(cursor, 8)
  if (lead >= 0xcc && lead <= 0xcf) return skipBytes(cursor, 1 << (lead - 0xcc))
  if (lead >= 0xd0 && lead <= 0xd3) return skipBytes(cursor, 1 << (lead - 0xd0))
  if (lead === 0xd4) return skipUndefined(cursor)
  if (lead >= 0xd9 && lead <= 0xdb) return skipBytes(cursor, readUint(cursor, 1 << (lead - 0xd9)))
  if (lead === 0xdc || lead === 0xdd)
    return skipValues(cursor, readUint(cursor, lead === 0xdc ? 2 : 4), depth)
  if (lead === 0xde || lead === 0xdf)
    return skipValues(cursor, readUint(cursor, lead === 0xde ? 2 : 4) * 2, depth)
  throw new MalformedFrameError(`Type 0x${lead.toString(16)} is not plain data`)
}

/** `undefined` is the one extension that plain objects need; all others can name classes and references. */
function skipUndefined(cursor: Cursor): void {
  if (readUint(cursor, 2) !== 0) throw new MalformedFrameError('Extension types are not plain data')
}

function skipValues(cursor: Cursor, count: number, depth: number): void {
  // Every value takes at least one byte, so a claim beyond the end is refused before the loop.
  if (count > cursor.bytes.length - cursor.at)
    throw new MalformedFrameError(`${count} values are claimed, fewer bytes follow`)
  for (let i = 0; i < count; i++) skipValue(cursor, depth + 1)
}

function skipBytes(cursor: Cursor, count: number): void {
  if (count > cursor.bytes.length - cursor.at)
    throw new MalformedFrameError(`${count} bytes are claimed, fewer follow`)
  cursor.at += count
}

function readUint(cursor: Cursor, width: number): number {
  const start = cursor.at
  skipBytes(cursor, width)
  let value = 0
  for (let i = start; i < cursor.at; i++) value = value * 256 + (cursor.bytes[i] as number)
  return value
}
