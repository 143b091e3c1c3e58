/**
 * The master keys of a deployment: the one it seals with, and older or newer ones that only open.
 *
 * Owns: which key is current. Knows nothing of: the key file and who opens its lines (provided-keys.ts), tenants, tokens, chunks.
 * Rule: a node seals with the key that the cluster agreed on, not with the one it would like: what it seals must open
 * on nodes that do not have the newest key yet.
 */
import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { StartError } from '../../cluster/index.ts'
import { newLine, parseKeyLines, plainOnly, textOfLine } from './key-lines.ts'
import { createKeyFile, readKeyFile } from './master-key-file.ts'
import { KEY_BYTES, type KeyLabel, MasterKeyVersion, namedKeyOf } from './master-key-version.ts'

const KEY_ID = /^mk-[a-z0-9-]{1,32}$/

/** A key as its file or its provider gave it. */
export interface RawKey {
  readonly id: string
  readonly secret: Uint8Array
}

export class MasterKey {
  /** As in the file. */
  readonly #versions: readonly MasterKeyVersion[]
  #current: MasterKeyVersion
  /** By label, until another key is current. */
  readonly #verifying = new Map<KeyLabel, readonly KeyObject[]>()

  private constructor(lines: readonly RawKey[]) {
    this.#versions = lines.map(({ id, secret }) => new MasterKeyVersion(id, secret))
    const [newest] = this.#versions
    assert(newest !== undefined, 'a key file has a line')
    this.#current = newest
  }

  /**
   * From a file that holds the keys themselves. Throws StartError `master_key_missing`, `master_key_exposed`, `master_key_malformed` or
   * `master_key_wrong_provider`.
   */
  static async load(file: string): Promise<MasterKey> {
    return new MasterKey(plainOnly(file, parseKeyLines(file, await readKeyFile(file))))
  }

  /** Makes a new key and a file that holds it, durable when this resolves. Throws StartError `master_key_exists`. */
  static async create(file: string): Promise<MasterKey> {
    const line = newLine()
    await createKeyFile(file, textOfLine(line))
    return new MasterKey([line])
  }

  /** For processes that receive the key by other means, and for tests. */
  static fromBytes(id: string, secret: Uint8Array): MasterKey {
    return MasterKey.of([{ id, secret }])
  }

  /** The newest first. Throws StartError `master_key_malformed`. */
  static of(lines: readonly RawKey[]): MasterKey {
    for (const { id, secret } of lines) {
      if (KEY_ID.test(id) && secret.length === KEY_BYTES) continue
      throw new StartError('master_key_malformed', `Master key '${id}' is not in the expected format`, {
        hint: 'A master key has an id like mk-2026 and 32 bytes.',
      })
    }
    return new MasterKey(lines.map(({ id, secret }) => ({ id, secret: Buffer.from(secret) })))
  }

  /** Of the key that seals now. */
  get id(): string {
    return this.#current.id
  }

  get fingerprint(): string {
    return this.#current.fingerprint
  }

  /** Of all keys, the newest first. */
  get fingerprints(): readonly string[] {
    return this.#versions.map(({ fingerprint }) => fingerprint)
  }

  get ids(): readonly string[] {
    return this.#versions.map(({ id }) => id)
  }

  /** Seals and signs with this key from now on; false, and no change, when the file does not hold it. */
  use(fingerprint: string): boolean {
    const wanted = this.#versions.find((version) => version.fingerprint === fingerprint)
    if (wanted !== undefined) {
      this.#current = wanted
      this.#verifying.clear()
    }
    return wanted !== undefined
  }

  /** What to sign with. */
  signingKey(label: KeyLabel): KeyObject {
    return this.#current.keyFor(label)
  }

  /** What signatures may come from: the current key first. The same array until another key is current. */
  verifyingKeys(label: KeyLabel): readonly KeyObject[] {
    const known = this.#verifying.get(label)
    if (known !== undefined) return known
    const others = this.#versions.filter((version) => version !== this.#current)
    const keys = [this.#current, ...others].map((version) => version.keyFor(label))
    this.#verifying.set(label, keys)
    return keys
  }

  /** `context` says what the secret is and whose; a sealed secret moved to another place does not open there. */
  seal(plain: Uint8Array, context: string): Uint8Array {
    return this.#current.seal(plain, context)
  }

  /** As `seal`, once with each key, the newest first: for what has to open before the cluster has agreed on one. */
  sealWithEach(plain: Uint8Array, context: string): readonly Uint8Array[] {
    return this.#versions.map((version) => version.seal(plain, context))
  }

  /** Throws when the bytes were sealed under a key that is not here, for another context, or were changed since. */
  open(sealed: Uint8Array, context: string): Uint8Array {
    const opened = this.#tryOpen(sealed, context)
    if (opened !== null) return opened.plain
    const named = namedKeyOf(sealed)
    const under = named === null ? 'any master key of this node' : `master key '${named}'`
    throw new Error(`Cannot open the sealed secret '${context}' with ${under}`)
  }

  /** Which key a secret is sealed under; null when none of this node opens it. */
  sealerOf(sealed: Uint8Array, context: string): string | null {
    return this.#tryOpen(sealed, context)?.id ?? null
  }

  #tryOpen(sealed: Uint8Array, context: string): { id: string; plain: Uint8Array } | null {
    const named = namedKeyOf(sealed)
    for (const version of this.#versions) {
      if (named !== null && named !== version.id) continue
      const plain = version.open(sealed, context)
      if (plain !== null) return { id: version.id, plain }
    }
    return null
  }
}
