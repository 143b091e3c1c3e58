/**
 * Converts a blob's name to a file name, and back; no other file does.
 *
 * Rule: only names that match the strict patterns are accepted, so no text from a peer or a caller can ever be a path.
 */
import type { BlobName } from '../../base/types.ts'

const ID = /^[0-9a-f]{16,64}$/
const BIRTH = /^[a-z0-9-]{1,64}$/
const CHECKSUM = /^[0-9a-f]{64}$/

/** Throws TypeError: an invalid name is a bug of the caller or an attack, never a state of the disk. */
export function assertBlobName(name: BlobName): void {
  if (typeof name.id !== 'string' || !ID.test(name.id)) {
    throw new TypeError(`Invalid blob id ${JSON.stringify(name.id)}`)
  }
  if (typeof name.birth !== 'string' || !BIRTH.test(name.birth)) {
    throw new TypeError(`Invalid blob birth ${JSON.stringify(name.birth)}`)
  }
}

export function isChecksum(text: unknown): text is string {
  return typeof text === 'string' && CHECKSUM.test(text)
}

/** File names sort like (id, birth): "." is smaller than every character of an id. */
export function fileNameOf(name: BlobName): string {
  assertBlobName(name)
  return `${name.id}.${name.birth}`
}

/** Null for a file that is not a blob. */
export function parseFileName(fileName: string): BlobName | null {
  const [id, birth, ...rest] = fileName.split('.')
  if (id === undefined || birth === undefined || rest.length > 0) return null
  return ID.test(id) && BIRTH.test(birth) ? { id, birth } : null
}
