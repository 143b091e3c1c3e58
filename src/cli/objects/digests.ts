/**
 * The digests by which transferred bytes are verified.
 *
 * The service knows CRC64NVME of every whole object, and SHA256 of objects that were uploaded in one request with it.
 */
import { createHash } from 'node:crypto'
import { createCRC64 } from 'hash-wasm'

/** The NVMe polynomial in reflected form. */
export const CRC64_NVME_POLYNOMIAL = '9a6c9329ac4bc9b5'

export interface RunningDigest {
  readonly update: (piece: Uint8Array) => void
  /** base64. Call once. */
  readonly digest: () => string
}

export async function crc64nvme(): Promise<RunningDigest> {
  const crc = await createCRC64(CRC64_NVME_POLYNOMIAL)
  crc.init()
  return {
    update: (piece) => void crc.update(piece),
    digest: () => Buffer.from(crc.digest('binary')).toString('base64'),
  }
}

export function sha256(): RunningDigest {
  const hash = createHash('sha256')
  return { update: (piece) => void hash.update(piece), digest: () => hash.digest('base64') }
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}
