/**
 * The one secret of a deployment, and every key that is made from it.
 *
 * Owns: the key file, the derivation labels, sealing of small secrets. Knows nothing of: tenants, tokens, chunks.
 * Rules: the raw key feeds HKDF and nothing else, so no two uses ever share a key; neither it nor anything derived
 * from it appears in an error, a log line or an inspection of this object.
 *
 * File: one line `holdfast-master-key-1:<id>:<base64url of 32 bytes>`, readable by its owner alone.
 * Sealed secret: 01 | nonce (12) | ciphertext | tag (16), AES-256-GCM, the key id and the context as associated data.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { StartError } from '../../cluster/index.ts'
import { createKeyFile, readKeyFile } from './master-key-file.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SEAL_VERSION = 1
const KEY_ID = /^mk-[a-z0-9-]{1,32}$/
const FILE_LINE = /^holdfast-master-key-1:(mk-[a-z0-9-]{1,32}):([A-Za-z0-9_-]{43})\n?$/

/** One label for each purpose: a key made for one can never open or sign for another. */
export type KeyLabel = 'native-api-token' | 'continuation-token' | 'signed-url' | 'fingerprint' | 'sealing'

export class MasterKey {
  readonly id: string
  /** Tells two master keys apart without saying anything about either; safe to store and to show. */
  readonly fingerprint: string
  /** As key objects: Node takes four times as long over raw bytes, at every use. */
  readonly #secret: KeyObject
  readonly #sealingKey: KeyObject

  private constructor(id: string, secret: Buffer) {
    this.id = id
    this.#secret = createSecretKey(secret)
    this.#sealingKey = createSecretKey(this.derive('sealing'))
    this.fingerprint = this.derive('fingerprint', id).toString('hex')
  }

  /** Throws StartError `master_key_missing`, `master_key_exposed` or `master_key_malformed`. */
  static async load(file: string): Promise<MasterKey> {
    const match = FILE_LINE.exec(await readKeyFile(file))
    const [id, encoded] = [match?.[1], match?.[2]]
    const secret = Buffer.from(encoded ?? '', 'base64url')
    // Two texts must never mean the same key: the unused bits of the last character have to be zero.
    if (id === undefined || secret.length !== KEY_BYTES || secret.toString('base64url') !== encoded) {
      throw new StartError(
        'master_key_malformed',
        `Master key file '${file}' is not in the expected format`,
        {
          hint: 'Restore the file from its backup: one line holdfast-master-key-1:<id>:<43 characters>',
        },
      )
    }
    return new MasterKey(id, secret)
  }

  /** Makes a new key and its file, durable when this resolves. Throws StartError `master_key_exists`. */
  static async create(file: string): Promise<MasterKey> {
    const id = `mk-${randomBytes(6).toString('hex')}`
    const secret = randomBytes(KEY_BYTES)
    await createKeyFile(file, `holdfast-master-key-1:${id}:${secret.toString('base64url')}\n`)
    return new MasterKey(id, secret)
  }

  /** For processes that receive the key by other means, and for tests. */
  static fromBytes(id: string, secret: Uint8Array): MasterKey {
    if (!KEY_ID.test(id) || secret.length !== KEY_BYTES) {
      throw new StartError('master_key_malformed', `Master key '${id}' is not in the expected format`, {
        hint: 'A master key has an id like mk-2026 and 32 bytes',
      })
    }
    return new MasterKey(id, Buffer.from(secret))
  }

  /** HKDF-SHA256. `info` narrows a label further. */
  derive(label: KeyLabel, info = ''): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secret, '', `holdfast/1/${label}/${info}`, KEY_BYTES))
  }

  /** `context` says what the secret is and whose; a sealed secret moved to another place does not open there. */
  seal(plain: Uint8Array, context: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey, nonce).setAAD(this.#binding(context))
    const body = [cipher.update(plain), cipher.final()]
    return Buffer.concat([Buffer.of(SEAL_VERSION), nonce, ...body, cipher.getAuthTag()])
  }

  /** Throws when the bytes were sealed under another key, for another context, or were changed since. */
  open(sealed: Uint8Array, context: string): Uint8Array {
    if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== SEAL_VERSION) {
      throw new Error(`Cannot open the sealed secret '${context}': it is not in the expected format`)
    }
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', this.#sealingKey, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(this.#binding(context)).setAuthTag(sealed.subarray(-TAG_BYTES))
    try {
      const plain = decipher.update(sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES))
      return Buffer.concat([plain, decipher.final()])
    } catch (cause) {
      throw new Error(`Cannot open the sealed secret '${context}' with master key '${this.id}'`, { cause })
    }
  }

  #binding(context: string): Buffer {
    return Buffer.from(`${this.id}\n${context}`)
  }
}
