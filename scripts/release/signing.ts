/**
 * The checksums of a release and their signature.
 *
 * Owns: both forms. Rules: the checksums are those that `sha256sum --check` reads; the signature is Ed25519 over the bytes of that file, 64 raw
 * bytes, as openssl verifies it; the key is read, used and never copied.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `names`: files in `folder`. One line for each, sorted. */
export function checksumsOf(folder: string, names: readonly string[]): string {
  const lines = names.toSorted().map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex')}  ${name}\n`,
  )
  return lines.join('')
}

/** Throws an Error that says what was expected when the file has no such key. */
export function readSigningKey(file: string): KeyObject {
  const expected = 'Make one with: openssl genpkey -algorithm ed25519 -out release.key'
  let key: KeyObject
  try {
    key = createPrivateKey(readFileSync(file))
  } catch (cause) {
    throw new Error(`'${file}' contains no private key (PEM, not encrypted). ${expected}`, { cause })
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(`'${file}' contains a key of type ${key.asymmetricKeyType}, not Ed25519. ${expected}`)
  return key
}

export const signatureOf = (bytes: Uint8Array, key: KeyObject): Buffer => sign(null, bytes, key)

/** PEM, for those who verify. */
export const publicKeyOf = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
