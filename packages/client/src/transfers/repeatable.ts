/**
 * Makes a put repeatable: with an idempotency key, and with the digest that the service wants beside it.
 *
 * Rule: what the caller gave stays. A stream is sent as it is, because its digest is known only at its end.
 */
import type { PutObjectInput } from '../generated/data-methods.ts'
import { sha256Of } from './digests.ts'
import { randomName } from './upload.ts'

/** Larger ones would be read twice. */
const BLOB_BYTES_MAX = 16 * 1024 * 1024

export async function repeatable(input: PutObjectInput): Promise<PutObjectInput> {
  // Of a caller without types; the call says what is missing.
  if (typeof input !== 'object' || input === null) return input
  const { body, idempotencyKey = randomName() } = input
  if (Object.keys(input).some((name) => name.startsWith('checksum'))) return { ...input, idempotencyKey }
  const bytes = await bytesOf(body)
  if (bytes === null) return input
  return { ...input, body: bytes, idempotencyKey, checksumSHA256: await sha256Of(bytes) }
}

async function bytesOf(body: PutObjectInput['body']): Promise<Uint8Array<ArrayBuffer> | null> {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (body instanceof Uint8Array) return new Uint8Array(body)
  if (body instanceof Blob && body.size <= BLOB_BYTES_MAX) return new Uint8Array(await body.arrayBuffer())
  return null
}
