/** The bytes of an object as part of an answer: as a stream, and in one piece where they are at hand. */
import type { ByteRange } from '../content/range.ts'
import type { ReadableObject } from '../operations/objects/get-object.ts'
import type { Answer } from './route.ts'

type StoredBytes = Pick<Extract<Answer, { readonly kind: 'bytes' }>, 'bytes' | 'length' | 'atHand'>

export function storedBytes(found: ReadableObject, range: ByteRange): StoredBytes {
  const bytes = { bytes: found.read(range), length: range.end - range.start }
  return found.isAtHand ? { ...bytes, atHand: () => found.readAtHand(range) } : bytes
}
