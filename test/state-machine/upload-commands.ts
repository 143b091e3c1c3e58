/** The commands of a multipart upload to `acme`/`photos`, as a gateway proposes them. */
import type { ChunkUse } from '../../src/state-machine/chunks/commands.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { ANYTHING, fresh, NO_SETTINGS } from './map-world.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

export const UPLOAD_LASTS_MS = 7 * 24 * 3_600_000

export function createUpload(key: string, more: Partial<Of<'createUpload'>> = {}): Of<'createUpload'> {
  return {
    type: 'createUpload',
    tenantId: 'acme',
    bucket: 'photos',
    key,
    contentType: 'text/plain',
    metadata: {},
    masterKeyId: 'mk-1',
    initiator: 'key',
    expiresInMs: UPLOAD_LASTS_MS,
    checksumAlg: null,
    ...NO_SETTINGS,
    ...more,
  }
}

interface PartName {
  readonly key: string
  readonly uploadId: string
  readonly partNumber: number
}

/** The etag follows from the part number. */
export function putPart(
  { key, uploadId, partNumber }: PartName,
  chunks: readonly (string | ChunkUse)[],
): Of<'putPart'> {
  const uses = chunks.map((chunk) => (typeof chunk === 'string' ? fresh(chunk) : chunk))
  return {
    type: 'putPart',
    tenantId: 'acme',
    bucket: 'photos',
    key,
    uploadId,
    partNumber,
    size: uses.reduce((sum, use) => sum + use.size, 0),
    etag: `etag of ${partNumber}`,
    checksums: {},
    body: { kind: 'chunks', chunks: uses, copiesMin: 2 },
  }
}

/** Different lists have different fingerprints, as with a digest. */
export function fingerprintOf(parts: Of<'completeUpload'>['parts']): string {
  return JSON.stringify(parts)
}

/** Completes parts 1 to `count`. */
export function completeUpload(
  { key, uploadId }: Omit<PartName, 'partNumber'>,
  count: number,
  more: Partial<Of<'completeUpload'>> = {},
): Of<'completeUpload'> {
  const named = Array.from({ length: count }, (_, n) => ({
    partNumber: n + 1,
    etag: `etag of ${n + 1}`,
  }))
  const { parts = named } = more
  return {
    type: 'completeUpload',
    tenantId: 'acme',
    bucket: 'photos',
    key,
    uploadId,
    parts,
    fingerprint: fingerprintOf(parts),
    etag: `assembled-${count}`,
    checksums: {},
    precondition: ANYTHING,
    ...more,
  }
}
