/**
 * What makes an upload the same upload when it is repeated under one idempotency key. [native: Upload rules 3]
 *
 * Format: hex SHA-256 of the JSON of [size, etag, content type, metadata by name], and behind them what the upload says of its
 * representation, by name, if it says anything. The etag represents the bytes: it is a digest of them.
 */
import { createHash } from 'node:crypto'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'

export function fingerprintOf(
  upload: Pick<ObjectRecord, 'size' | 'etag' | 'contentType' | 'metadata' | 'representation'>,
): string {
  const { size, etag, contentType, metadata, representation } = upload
  const said = representation === undefined ? [] : [byName(representation)]
  return createHash('sha256')
    .update(JSON.stringify([size, etag, contentType, byName(metadata), ...said]))
    .digest('hex')
}

function byName(texts: object): readonly (readonly [name: string, text: unknown])[] {
  return Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1))
}
