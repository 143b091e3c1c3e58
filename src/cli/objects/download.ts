/**
 * Brings one object, to its last byte, and holds it against its digests.
 *
 * Owns: going on where a connection broke. Knows nothing of: files.
 * Rules: it goes on with the very object that it began with, by its version and its etag; bytes count as right only when the digests
 * that the service keeps of the whole are those of what came.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { DataClient } from '../../client/clients.ts'
import { CommandError } from '../base/exit.ts'
import { crc64nvme, type RunningDigest, sha256 } from './digests.ts'

export interface DownloadRequest {
  readonly bucket: string
  readonly key: string
  readonly versionId?: string
  readonly signal: AbortSignal
  /** Told before the first byte. */
  readonly onSize: (bytes: number) => void
  /** Must not resolve before the piece may be forgotten. */
  readonly onBytes: (piece: Uint8Array) => Promise<void>
}

export interface Downloaded {
  readonly bucket: string
  readonly key: string
  readonly versionId: string | null
  readonly size: number
  readonly etag: string
  readonly contentType: string | null
  readonly lastModified: string
  /** base64, by algorithm: those that the bytes were held against. */
  readonly verified: Readonly<Record<string, string>>
}

/** In a row, without one more byte. */
const ATTEMPTS_MAX = 5
const FIRST_WAIT_MS = 200

interface Begun {
  readonly headers: Readonly<Record<string, string>>
  readonly size: number
  readonly digests: ReadonlyMap<string, RunningDigest>
  received: number
}

/** Throws CommandError checksum_mismatch when it is not what the service says. */
export async function download(client: DataClient, requested: DownloadRequest): Promise<Downloaded> {
  const { answer, headers } = await client.call('getObject', callOf(requested, null))
  const begun: Begun = {
    headers,
    size: Number(headers['x-service-object-length']),
    digests: await digestsFor(headers),
    received: 0,
  }
  requested.onSize(begun.size)
  let body: AsyncIterable<Uint8Array> = answer
  for (let attempts = 0, reached = -1; !(await isWhole(body, begun, requested)); ) {
    attempts = begun.received > reached ? 1 : attempts + 1
    reached = begun.received
    if (attempts === ATTEMPTS_MAX)
      throw new CommandError(
        `'${requested.bucket}/${requested.key}' broke off at byte ${reached} of ${begun.size}, ${ATTEMPTS_MAX} times in a row`,
        {
          code: 'broken_off',
          hint: 'Try again; if it stays so, an operator finds the reason in the log of a node.',
        },
      )
    await wait(FIRST_WAIT_MS * 2 ** (attempts - 1), undefined, { signal: requested.signal })
    body = (await client.call('getObject', callOf(requested, begun))).answer
  }
  return verified(requested, begun)
}

/** `begun` null: from the first byte. */
function callOf({ bucket, key, versionId, signal }: DownloadRequest, begun: Begun | null) {
  const version = begun?.headers['x-service-version-id'] ?? versionId
  const from =
    begun === null ? {} : { Range: `bytes=${begun.received}-`, 'If-Match': begun.headers['etag'] ?? '*' }
  return {
    params: { bucket, key },
    query: version === undefined ? {} : { versionId: version },
    headers: from,
    signal,
  }
}

/** False: the connection broke before its end. */
async function isWhole(
  body: AsyncIterable<Uint8Array>,
  begun: Begun,
  requested: DownloadRequest,
): Promise<boolean> {
  try {
    for await (const piece of body) {
      for (const digest of begun.digests.values()) digest.update(piece)
      begun.received += piece.length
      await requested.onBytes(piece).catch((cause: unknown) => {
        throw new SinkError(cause)
      })
    }
  } catch (cause) {
    if (cause instanceof SinkError) throw cause.cause
    if (requested.signal.aborted) throw cause
  }
  return begun.received === begun.size
}

/** Where the bytes go failed, not where they come from. */
class SinkError extends Error {
  constructor(cause: unknown) {
    super('the bytes could not be taken', { cause })
  }
}

async function digestsFor(headers: Begun['headers']): Promise<ReadonlyMap<string, RunningDigest>> {
  const digests = new Map<string, RunningDigest>()
  if ('x-service-checksum-crc64nvme' in headers) digests.set('CRC64NVME', await crc64nvme())
  if ('x-service-checksum-sha256' in headers) digests.set('SHA256', sha256())
  return digests
}

function verified({ bucket, key }: DownloadRequest, { headers, size, digests }: Begun): Downloaded {
  const known: Record<string, string> = {}
  for (const [algorithm, running] of digests) {
    const actual = running.digest()
    const stored = headers[`x-service-checksum-${algorithm.toLowerCase()}`]
    if (actual !== stored)
      throw new CommandError(
        `'${bucket}/${key}' arrived with ${algorithm} ${actual}, and is stored with ${stored}: the bytes must not be used`,
        {
          code: 'checksum_mismatch',
          hint: 'Try again; if it stays so, tell an operator the request.',
          requestId: headers['x-request-id'] ?? null,
        },
      )
    known[algorithm] = actual
  }
  return {
    bucket,
    key,
    versionId: headers['x-service-version-id'] ?? null,
    size,
    etag: (headers['etag'] ?? '').replaceAll('"', ''),
    contentType: headers['content-type'] ?? null,
    lastModified: new Date(headers['last-modified'] ?? '').toISOString(),
    verified: known,
  }
}
