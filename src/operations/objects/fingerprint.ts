/**
 * What makes an upload the same upload when it is repeated under one idempotency key. [native: Upload rules 3]
 *
 * Format: hex SHA-256 of the JSON of [size, etag, content type, metadata by name]. The etag represents the bytes: it is a
 * digest of them.
 */
import { createHash } from 'node:crypto'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'

export function fingerprintOf(
  upload: Pick<ObjectRecord, 'size' | 'etag' | 'contentType' | 'metadata'>,
): string {
  const { size, etag, contentType, metadata } = upload
  const named = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([size, etag, contentType, named]))
    .digest('hex')
}
