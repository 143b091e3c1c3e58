/**
 * What makes an upload the same upload when it is repeated under one idempotency key. [native: Upload rules 3]
 *
 * Format: hex SHA-256 of the JSON of [size, content tag, content type, metadata by name], and behind them what the upload says of its
 * representation, by name, if it says anything. The content tag represents the bytes: it is a digest of them, the same through any API.
 */
import { createHash } from 'node:crypto'
import type { IngestedBody } from '../../content/content.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'

export function fingerprintOf(
  upload: Pick<IngestedBody, 'size' | 'contentTag'> &
    Pick<ObjectRecord, 'contentType' | 'metadata' | 'representation'>,
): string {
  const { size, contentTag, contentType, metadata, representation } = upload
  const said = representation === undefined ? [] : [byName(representation)]
  return createHash('sha256')
    .update(JSON.stringify([size, contentTag, contentType, byName(metadata), ...said]))
    .digest('hex')
}

function byName(texts: object): readonly (readonly [name: string, text: unknown])[] {
  return Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1))
}
