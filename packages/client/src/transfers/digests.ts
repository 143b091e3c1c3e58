/**
 * The digests by which transferred bytes are verified.
 *
 * The service knows CRC64NVME of every whole object, and SHA256 of objects that were uploaded in one request with it.
 */
import { Crc64Nvme } from './crc64nvme.ts'
import { Sha256 } from './sha256.ts'

export interface RunningDigest {
  update(piece: Uint8Array): void
  /** Call once. */
  digest(): Uint8Array
}

/** Those that this client can compute, by their names in `checksums`. */
export const DIGESTS: Readonly<Record<string, () => RunningDigest>> = {
  SHA256: () => new Sha256(),
  CRC64NVME: () => new Crc64Nvme(),
}

/** base64. Pages that were not loaded over https have no Web Crypto. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { subtle } = globalThis.crypto as { readonly subtle?: SubtleCrypto }
  if (subtle !== undefined) return base64(new Uint8Array(await subtle.digest('SHA-256', bytes)))
  const running = new Sha256()
  running.update(bytes)
  return base64(running.digest())
}

export function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}
