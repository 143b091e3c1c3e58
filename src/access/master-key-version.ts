/**
 * One master key: what is derived from it, and the sealing of small secrets.
 *
 * Owns: derivation labels, the format of a sealed secret. Knows nothing of: files, the other keys of a deployment.
 * Rules: the raw key feeds HKDF and nothing else, so no two uses ever share a key; neither it nor anything derived
 * from it appears in an error, a log line or an inspection of this object.
 *
 * Sealed secret, format 2: 02 | length of the key id (1) | key id | nonce (12) | ciphertext | tag (16).
 * Format 1, which is still opened: 01 | nonce (12) | ciphertext | tag (16). Both are AES-256-GCM with the key id and the
 * context as associated data; only format 2 says which key opens it.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

export const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const NAMED = 2
const UNNAMED = 1

/** One label for each purpose: a key made for one can never open or sign for another. */
export type KeyLabel =
  | 'native-api-token'
  | 'temporary-token'
  | 'continuation-token'
  | 'signed-url'
  | 'signed-url-holder'
  | 'fingerprint'
  | 'sealing'
  | 'recovery'
  | 'log-in'

export class MasterKeyVersion {
  readonly id: string
  /** Distinguishes two master keys without revealing anything about either; safe to store and to show. */
  readonly fingerprint: string
  /** As key objects: Node takes four times as long over raw bytes, at every use. */
  readonly #secret: KeyObject
  readonly #derived = new Map<KeyLabel, KeyObject>()

  constructor(id: string, secret: Uint8Array) {
    this.id = id
    this.#secret = createSecretKey(secret)
    this.fingerprint = this.derive('fingerprint', id).toString('hex')
  }

  /** HKDF-SHA256. `info` narrows a label further. */
  derive(label: KeyLabel, info = ''): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secret, '', `holdfast/1/${label}/${info}`, KEY_BYTES))
  }

  /** derive(), made once. */
  keyFor(label: KeyLabel): KeyObject {
    const made = this.#derived.get(label) ?? createSecretKey(this.derive(label))
    this.#derived.set(label, made)
    return made
  }

  /** `context` says what the secret is and whose; a sealed secret moved to another place does not open there. */
  seal(plain: Uint8Array, context: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES)
    const id = Buffer.from(this.id)
    const cipher = createCipheriv('aes-256-gcm', this.keyFor('sealing'), nonce).setAAD(this.#binding(context))
    const body = [cipher.update(plain), cipher.final()]
    return Buffer.concat([Buffer.of(NAMED, id.length), id, nonce, ...body, cipher.getAuthTag()])
  }

  /** null when this key did not seal these bytes for this context, or they were changed since. */
  open(sealed: Uint8Array, context: string): Uint8Array | null {
    const rest = boxOf(sealed)
    if (rest === null) return null
    const nonce = rest.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', this.keyFor('sealing'), nonce, {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(this.#binding(context)).setAuthTag(rest.subarray(-TAG_BYTES))
    try {
      const plain = decipher.update(rest.subarray(NONCE_BYTES, -TAG_BYTES))
      return Buffer.concat([plain, decipher.final()])
    } catch {
      // The only thing that can fail here is the tag, and nothing more is known about it.
      return null
    }
  }

  #binding(context: string): Buffer {
    return Buffer.from(`${this.id}\n${context}`)
  }
}

/** The id of the master key as format 2 names it; null in format 1, and for what is no sealed secret. */
export function namedKeyOf(sealed: Uint8Array): string | null {
  const length = sealed[1]
  if (sealed[0] !== NAMED || length === undefined) return null
  return Buffer.from(sealed.subarray(2, 2 + length)).toString('utf8')
}

/** Nonce, cipher text and tag; null when it is no sealed secret. */
function boxOf(sealed: Uint8Array): Uint8Array | null {
  const start = sealed[0] === NAMED ? 2 + (sealed[1] ?? 0) : 1
  const isKnown = sealed[0] === NAMED || sealed[0] === UNNAMED
  return isKnown && sealed.length >= start + NONCE_BYTES + TAG_BYTES ? sealed.subarray(start) : null
}
