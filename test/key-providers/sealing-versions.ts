/** Versions of a key that seal small texts, as providers keep them. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export class SealingVersions {
  readonly #keys = [randomBytes(32)]

  get newest(): number {
    return this.#keys.length
  }

  rotate(): void {
    this.#keys.push(randomBytes(32))
  }

  seal(plain: Uint8Array): { readonly version: number; readonly sealed: string } {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#keys.at(-1) ?? '', nonce)
    const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    return { version: this.newest, sealed: sealed.toString('base64') }
  }

  /** Null: not sealed by this version. */
  open(version: number, sealed: string): Uint8Array | null {
    const key = this.#keys[version - 1]
    const bytes = Buffer.from(sealed, 'base64')
    if (key === undefined || bytes.length < 28) return null
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
      decipher.setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
    } catch {
      return null
    }
  }
}
