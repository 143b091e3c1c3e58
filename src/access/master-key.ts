/**
 * The master keys of a deployment: the one it seals with, and older or newer ones that only open.
 *
 * Owns: the lines of the key file, which key is current. Knows nothing of: tenants, tokens, chunks.
 * Rule: a node seals with the key that the cluster agreed on, not with the one it would like: what it seals must open
 * on nodes that do not have the newest key yet.
 *
 * File: 1 to 8 lines `holdfast-master-key-1:<id>:<base64url of 32 bytes>`, the newest first, readable only by its owner.
 */
import assert from 'node:assert/strict'
import { type KeyObject, randomBytes } from 'node:crypto'
import { StartError } from '../../cluster/index.ts'
import { MASTER_KEYS_MAX } from '../state-machine/master-keys/limits.ts'
import { createKeyFile, readKeyFile, replaceKeyFile } from './master-key-file.ts'
import { KEY_BYTES, type KeyLabel, MasterKeyVersion, namedKeyOf } from './master-key-version.ts'

const KEY_ID = /^mk-[a-z0-9-]{1,32}$/
const FILE_LINE = /^holdfast-master-key-1:(mk-[a-z0-9-]{1,32}):([A-Za-z0-9_-]{43})$/

interface KeyLine {
  readonly id: string
  readonly secret: Uint8Array
}

export class MasterKey {
  /** As in the file. */
  readonly #versions: readonly MasterKeyVersion[]
  #current: MasterKeyVersion
  /** By label, until another key is current. */
  readonly #verifying = new Map<KeyLabel, readonly KeyObject[]>()

  private constructor(lines: readonly KeyLine[]) {
    this.#versions = lines.map(({ id, secret }) => new MasterKeyVersion(id, secret))
    const [newest] = this.#versions
    assert(newest !== undefined, 'a key file has a line')
    this.#current = newest
  }

  /** Throws StartError `master_key_missing`, `master_key_exposed` or `master_key_malformed`. */
  static async load(file: string): Promise<MasterKey> {
    return new MasterKey(parseLines(file, await readKeyFile(file)))
  }

  /** Makes a new key and its file, durable when this resolves. Throws StartError `master_key_exists`. */
  static async create(file: string): Promise<MasterKey> {
    const line = newLine()
    await createKeyFile(file, textOf(line))
    return new MasterKey([line])
  }

  /** Puts a new key in front of those in the file; durable when this resolves. Throws StartError as load(), `master_key_unwritable`. */
  static async add(file: string): Promise<MasterKey> {
    const text = await readKeyFile(file)
    const present = parseLines(file, text)
    if (present.length === MASTER_KEYS_MAX) {
      throw new StartError(
        'master_key_unwritable',
        `Master key file '${file}' holds ${MASTER_KEYS_MAX} keys`,
        {
          hint: 'Remove the lines of keys that nothing is sealed under any more, see deploy/runbooks/rotate-master-key.md.',
        },
      )
    }
    const lines = [newLine(), ...present]
    await replaceKeyFile(file, lines.map(textOf).join(''))
    return new MasterKey(lines)
  }

  /** For processes that receive the key by other means, and for tests. */
  static fromBytes(id: string, secret: Uint8Array): MasterKey {
    return MasterKey.of([{ id, secret }])
  }

  /** The newest first. Throws StartError `master_key_malformed`. */
  static of(lines: readonly KeyLine[]): MasterKey {
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

function newLine(): KeyLine {
  return { id: `mk-${randomBytes(6).toString('hex')}`, secret: randomBytes(KEY_BYTES) }
}

function textOf({ id, secret }: KeyLine): string {
  return `holdfast-master-key-1:${id}:${Buffer.from(secret).toString('base64url')}\n`
}

function parseLines(file: string, text: string): readonly KeyLine[] {
  const lines = text.replace(/\n$/, '').split('\n').map(parseLine)
  const good = lines.filter((line) => line !== null)
  const ids = new Set(good.map(({ id }) => id))
  if (good.length === lines.length && ids.size === lines.length && lines.length <= MASTER_KEYS_MAX)
    return good
  throw new StartError('master_key_malformed', `Master key file '${file}' is not in the expected format`, {
    hint: 'Restore the file from its backup: lines holdfast-master-key-1:<id>:<43 characters>, each id once.',
  })
}

function parseLine(line: string): KeyLine | null {
  const match = FILE_LINE.exec(line)
  const [id, encoded] = [match?.[1], match?.[2]]
  if (id === undefined || encoded === undefined) return null
  const secret = Buffer.from(encoded, 'base64url')
  // Two texts must never mean the same key: the unused bits of the last character have to be zero.
  return secret.length === KEY_BYTES && secret.toString('base64url') === encoded ? { id, secret } : null
}
