/**
 * Downloads one object completely and verifies its digests.
 *
 * Owns: resumption after a broken connection, and behind bytes that an earlier command received. Knows nothing of: files.
 * Rules: it resumes with the object that it started with, by version and etag. The bytes count as correct only when their digests equal
 * those that the service keeps of the whole object.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { DataClient } from '../../client/clients.ts'
import { CommandError } from '../base/exit.ts'
import { crc64nvme, type RunningDigest, sha256 } from './digests.ts'
import { timeIn } from './file-time.ts'
import { stateOf } from './unfinished-files.ts'

export interface DownloadRequest {
  readonly bucket: string
  readonly key: string
  readonly versionId?: string
  readonly signal: AbortSignal
  /** Called before the first byte. */
  readonly onSize: (bytes: number) => void
  /** What is there already; it counts if the object is still of this state. */
  readonly held?: HeldBytes
  /** Called before the first byte, and after `onSize`. */
  readonly onStart?: (start: DownloadStart) => Promise<void>
  /** Resolves when it no longer needs the piece. */
  readonly onBytes: (piece: Uint8Array) => Promise<void>
}

interface HeldBytes {
  /** As `stateOf` gives it. */
  readonly state: string
  readonly bytes: number
  readonly pieces: () => AsyncIterable<Uint8Array>
}

export interface DownloadStart {
  readonly state: string
  /** Those that count; only what follows them is passed to `onBytes`. */
  readonly heldBytes: number
}

export interface Downloaded {
  readonly bucket: string
  readonly key: string
  readonly versionId: string | null
  readonly size: number
  readonly etag: string
  readonly contentType: string | null
  readonly lastModified: string
  /** Of the file that was stored; null: it is not known. */
  readonly fileTime: string | null
  /** The verified digests: base64, by algorithm. */
  readonly verified: Readonly<Record<string, string>>
}

/** In a row, without a further byte. */
const ATTEMPTS_MAX = 5
const FIRST_WAIT_MS = 200

interface Transfer {
  readonly headers: Readonly<Record<string, string>>
  readonly size: number
  readonly digests: ReadonlyMap<string, RunningDigest>
  received: number
}

/** Throws CommandError checksum_mismatch when the bytes do not have the digests that the service keeps. */
export async function download(client: DataClient, requested: DownloadRequest): Promise<Downloaded> {
  const { transfer, rest } = (await heldTransfer(client, requested)) ?? (await newTransfer(client, requested))
  requested.onSize(transfer.size)
  await requested.onStart?.({ state: stateOf(transfer.headers), heldBytes: transfer.received })
  let body = rest
  for (let attempts = 0, reached = -1; !(await isWhole(body, transfer, requested)); ) {
    attempts = transfer.received > reached ? 1 : attempts + 1
    reached = transfer.received
    if (attempts === ATTEMPTS_MAX)
      throw new CommandError(
        `'${requested.bucket}/${requested.key}' broke off at byte ${reached} of ${transfer.size}, ${ATTEMPTS_MAX} times in a row`,
        {
          code: 'broken_off',
          hint: 'Try again; if it fails again, the log of a node shows the reason.',
        },
      )
    await wait(FIRST_WAIT_MS * 2 ** (attempts - 1), undefined, { signal: requested.signal })
    body = (await client.call('getObject', callOf(requested, transfer))).answer
  }
  return verified(requested, transfer)
}

interface Started {
  readonly transfer: Transfer
  readonly rest: AsyncIterable<Uint8Array>
}

async function newTransfer(client: DataClient, requested: DownloadRequest): Promise<Started> {
  const { answer, headers } = await client.call('getObject', callOf(requested, null))
  return { transfer: await transferOf(headers), rest: answer }
}

/** Null: there are no bytes that can count. */
async function heldTransfer(client: DataClient, requested: DownloadRequest): Promise<Started | null> {
  const { held } = requested
  if (held === undefined || held.bytes === 0) return null
  const { headers } = await client.call('headObject', callOf(requested, null))
  const transfer = await transferOf(headers)
  if (stateOf(headers) !== held.state || held.bytes > transfer.size || transfer.digests.size === 0)
    return null
  for await (const piece of held.pieces()) received(transfer, piece)
  if (transfer.received === transfer.size) return { transfer, rest: nothing() }
  return { transfer, rest: (await client.call('getObject', callOf(requested, transfer))).answer }
}

async function transferOf(headers: Transfer['headers']): Promise<Transfer> {
  const size = Number(headers['x-service-object-length'])
  return { headers, size, digests: await digestsFor(headers), received: 0 }
}

function received(transfer: Transfer, piece: Uint8Array): void {
  for (const digest of transfer.digests.values()) digest.update(piece)
  transfer.received += piece.length
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** `transfer` null: from the first byte. */
function callOf({ bucket, key, versionId, signal }: DownloadRequest, transfer: Transfer | null) {
  const version = transfer?.headers['x-service-version-id'] ?? versionId
  const from =
    transfer === null
      ? {}
      : { Range: `bytes=${transfer.received}-`, 'If-Match': transfer.headers['etag'] ?? '*' }
  return {
    params: { bucket, key },
    query: version === undefined ? {} : { versionId: version },
    headers: from,
    signal,
  }
}

/** False: the connection broke before the end of the object. */
async function isWhole(
  body: AsyncIterable<Uint8Array>,
  transfer: Transfer,
  requested: DownloadRequest,
): Promise<boolean> {
  try {
    for await (const piece of body) {
      received(transfer, piece)
      await requested.onBytes(piece).catch((cause: unknown) => {
        throw new SinkError(cause)
      })
    }
  } catch (cause) {
    if (cause instanceof SinkError) throw cause.cause
    if (requested.signal.aborted) throw cause
  }
  return transfer.received === transfer.size
}

/** The target of the bytes failed, not their source. */
class SinkError extends Error {
  constructor(cause: unknown) {
    super('the bytes could not be written', { cause })
  }
}

async function digestsFor(headers: Transfer['headers']): Promise<ReadonlyMap<string, RunningDigest>> {
  const digests = new Map<string, RunningDigest>()
  if ('x-service-checksum-crc64nvme' in headers) digests.set('CRC64NVME', await crc64nvme())
  if ('x-service-checksum-sha256' in headers) digests.set('SHA256', sha256())
  return digests
}

function verified({ bucket, key }: DownloadRequest, { headers, size, digests }: Transfer): Downloaded {
  const known: Record<string, string> = {}
  for (const [algorithm, running] of digests) {
    const actual = running.digest()
    const stored = headers[`x-service-checksum-${algorithm.toLowerCase()}`]
    if (actual !== stored)
      throw new CommandError(
        `'${bucket}/${key}' was received with ${algorithm} ${actual}, but is stored with ${stored}: do not use the received bytes`,
        {
          code: 'checksum_mismatch',
          hint: 'Try again; if it fails again, report the request id to an operator.',
          requestId: headers['x-request-id'] ?? null,
        },
      )
    known[algorithm] = actual
  }
  const fileTime = timeIn(headers)
  return {
    bucket,
    key,
    versionId: headers['x-service-version-id'] ?? null,
    size,
    etag: (headers['etag'] ?? '').replaceAll('"', ''),
    contentType: headers['content-type'] ?? null,
    lastModified: new Date(headers['last-modified'] ?? '').toISOString(),
    fileTime: fileTime === null ? null : new Date(fileTime).toISOString(),
    verified: known,
  }
}
