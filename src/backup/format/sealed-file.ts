/**
 * A file of a backup that holds metadata: compressed, then sealed under the key of the backup. docs/formats/backup.md
 *
 *   "HFBK" | 01 | salt (32) | cipher text | tag (16)
 *
 * Owns: that layout, the key of each file. Knows nothing of: targets, what the bytes mean.
 * Rules: the salt is random, so a file that is written again under its name has another key and no nonce is used twice; the name is associated
 * data, so a file that a target gives out under another name does not open.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { TargetCorrupt } from '../targets/target.ts'

const HEAD = Buffer.from('HFBK\u0001')
const SALT_BYTES = 32
const TAG_BYTES = 16
const KEY_BYTES = 32
/** Each key seals one file. */
const NONCE = Buffer.alloc(12)
const FIXED_BYTES = HEAD.length + SALT_BYTES + TAG_BYTES

/** A file holds no more than this when it is expanded; one that claims more is not expanded further. Bytes. */
export const PLAIN_BYTES_MAX: number = 256 * 1024 * 1024

const compress = promisify<Uint8Array, { level: number }, Buffer>(gzip)
const expand = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip)

/** `name`: as in the target, below the folder of the cluster. */
export async function sealFile(backupKey: Uint8Array, name: string, plain: Uint8Array): Promise<Buffer> {
  const packed = await compress(plain, { level: constants.Z_BEST_SPEED })
  const salt = randomBytes(SALT_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyOf(backupKey, salt), NONCE).setAAD(Buffer.from(name))
  return Buffer.concat([HEAD, salt, cipher.update(packed), cipher.final(), cipher.getAuthTag()])
}

/** Throws TargetCorrupt. */
export async function openFile(backupKey: Uint8Array, name: string, sealed: Buffer): Promise<Buffer> {
  if (sealed.length < FIXED_BYTES || !sealed.subarray(0, HEAD.length).equals(HEAD))
    throw new TargetCorrupt(`${name} is no file of a backup that this version knows`)
  const salt = sealed.subarray(HEAD.length, HEAD.length + SALT_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', keyOf(backupKey, salt), NONCE, {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(name)).setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    const packed = decipher.update(sealed.subarray(HEAD.length + SALT_BYTES, -TAG_BYTES))
    return await expand(Buffer.concat([packed, decipher.final()]), { maxOutputLength: PLAIN_BYTES_MAX })
  } catch (cause) {
    throw new TargetCorrupt(`${name} was changed, or belongs to another backup`, { cause })
  }
}

/** Over the text of a manifest, hex. */
export function manifestSeal(backupKey: Uint8Array, text: string): string {
  const key = hkdfSync('sha256', backupKey, '', 'holdfast/backup/1/manifest', KEY_BYTES)
  return createHmac('sha256', new Uint8Array(key)).update(text).digest('hex')
}

function keyOf(backupKey: Uint8Array, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', backupKey, salt, 'holdfast/backup/1/file', KEY_BYTES))
}
