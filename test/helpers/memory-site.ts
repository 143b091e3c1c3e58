/**
 * The store of another site in memory: a model of what S3 keeps, with faults that a test switches on.
 *
 * Owns: versions, marks, conditions. Rule: every request is noted in the order in which it took effect.
 */
import {
  type BucketIdentity,
  type RemoteName,
  type RemotePut,
  type RemoteStore,
  type RemoteVersion,
  SiteFault,
} from '../../src/operations/base/remote-store.ts'
import type { RetentionRecord, Tags } from '../../src/state-machine/versions/records.ts'

export interface MemoryVersion extends RemoteVersion {
  readonly versionId: string
  readonly bytes: Buffer
  readonly metadata: Readonly<Record<string, string>>
  tags: Tags
  retention: RetentionRecord | null
  legalHold: boolean
}

const NO_SETTINGS = { tags: {}, retention: null, legalHold: false } as const

export class MemorySite implements RemoteStore {
  /** Newest first. */
  readonly keys = new Map<string, MemoryVersion[]>()
  readonly effects: string[] = []
  readonly isVersioned: boolean
  identity: BucketIdentity | null = null
  /** Thrown by requests before they take effect. Null: they do. */
  fault: (request: string) => Error | null = () => null
  /** Thrown by requests after they took effect: the answer is lost. */
  lost: (request: string) => Error | null = () => null
  /** Awaited before a request takes effect. */
  before: (request: string) => Promise<void> = async () => undefined
  now: () => number = () => 0
  #made = 0

  constructor(isVersioned = true) {
    this.isVersioned = isVersioned
  }

  /** The newest objects that are not deleted, as `key -> text`. */
  get contents(): ReadonlyMap<string, string> {
    return new Map(
      [...this.keys].flatMap(([key, [newest]]) =>
        newest === undefined || newest.isDeleteMarker ? [] : [[key, newest.bytes.toString()] as const],
      ),
    )
  }

  /** Somebody else stores a version there. Returns its id. */
  write(key: string, text: string, modifiedAt: number = this.now()): string {
    const bytes = Buffer.from(text)
    const about = { isDeleteMarker: false, etag: text, size: bytes.length, crc64nvme: null, mark: null }
    const made = { ...about, bytes, metadata: {}, modifiedAt, versionId: this.#nextId() }
    this.#push(key, { ...made, ...NO_SETTINGS })
    return made.versionId
  }

  probe(): Promise<{ readonly identity: BucketIdentity | null }> {
    return this.#request('probe', () => ({ identity: this.identity }))
  }

  probeStore(): Promise<void> {
    return this.#request('probe store', () => undefined)
  }

  makeBucket({ source }: Parameters<RemoteStore['makeBucket']>[0]): Promise<void> {
    return this.#request(`make bucket for ${source.name}`, () => {
      this.effects.push(`bucket for ${source.name}`)
    })
  }

  head({ key, versionId }: RemoteName): Promise<RemoteVersion | null> {
    return this.#request(`head ${key}`, () => this.#find({ key, versionId }) ?? null)
  }

  async put({ key, object, mark, expected, body }: RemotePut): Promise<void> {
    const pieces: Uint8Array[] = []
    for await (const piece of body()) pieces.push(piece)
    const bytes = Buffer.concat(pieces)
    await this.#request(`put ${key}`, () => {
      this.#expect(key, expected)
      const { etag, size, metadata, tags, retention, legalHold } = object
      const digest = { crc64nvme: object.checksums.CRC64NVME ?? null }
      const made = {
        isDeleteMarker: false,
        etag,
        size,
        modifiedAt: this.now(),
        mark,
        bytes,
        metadata,
        ...digest,
      }
      this.#push(key, { ...made, versionId: this.#nextId(), tags, retention, legalHold })
      this.effects.push(`put ${key} ${bytes.toString()}`)
    })
  }

  async remove(
    { key, versionId }: RemoteName,
    { expected, mark }: Parameters<RemoteStore['remove']>[1],
  ): Promise<void> {
    await this.#request(`remove ${key}`, () => {
      const versions = this.keys.get(key) ?? []
      this.effects.push(`remove ${key}`)
      if (versionId !== null) {
        this.keys.set(
          key,
          versions.filter((one) => one.versionId !== versionId),
        )
        return
      }
      if (expected !== null) this.#expect(key, expected)
      if (!this.isVersioned) {
        this.keys.delete(key)
        return
      }
      const nothing = { etag: '', size: 0, crc64nvme: null, bytes: Buffer.alloc(0), metadata: {} }
      const made = { isDeleteMarker: true, modifiedAt: this.now(), mark, ...nothing }
      this.#push(key, { ...made, versionId: this.#nextId(), ...NO_SETTINGS })
    })
  }

  async setTags(name: RemoteName, tags: Tags): Promise<void> {
    await this.#set(`tags ${name.key}`, name, (version) => {
      version.tags = tags
    })
  }

  async setRetention(name: RemoteName, retention: RetentionRecord | null): Promise<void> {
    await this.#set(`retention ${name.key}`, name, (version) => {
      version.retention = retention
    })
  }

  async setLegalHold(name: RemoteName, legalHold: boolean): Promise<void> {
    await this.#set(`hold ${name.key}`, name, (version) => {
      version.legalHold = legalHold
    })
  }

  versionsOf(key: string): Promise<readonly string[]> {
    return this.#request(`versions ${key}`, () =>
      (this.keys.get(key) ?? []).filter((one) => !one.isDeleteMarker).map(({ versionId }) => versionId),
    )
  }

  list({ prefix, after, limit }: Parameters<RemoteStore['list']>[0]) {
    return this.#request('list', () => {
      const before = (one: string, two: string) => Buffer.compare(Buffer.from(one), Buffer.from(two))
      const keys = [...this.contents.keys()]
        .filter((key) => key.startsWith(prefix) && before(after, key) < 0)
        .sort(before)
      const objects = keys.slice(0, limit).map((key) => {
        const { size = 0, etag = '' } = this.#find({ key, versionId: null }) ?? {}
        return { key, size, etag }
      })
      return { objects, isLast: keys.length <= limit }
    })
  }

  async #request<T>(name: string, effect: () => T): Promise<T> {
    await this.before(name)
    const fault = this.fault(name)
    if (fault !== null) throw fault
    const value = effect()
    const lost = this.lost(name)
    if (lost !== null) throw lost
    return value
  }

  async #set(request: string, name: RemoteName, change: (version: MemoryVersion) => void): Promise<void> {
    await this.#request(request, () => {
      const version = this.#find(name)
      if (version === undefined)
        throw new SiteFault('failed', `${request}: NoSuchKey`, { s3Code: 'NoSuchKey' })
      change(version)
      this.effects.push(request)
    })
  }

  #find({ key, versionId }: RemoteName): MemoryVersion | undefined {
    const versions = this.keys.get(key) ?? []
    return versionId === null ? versions[0] : versions.find((one) => one.versionId === versionId)
  }

  /** As If-Match and If-None-Match have it. */
  #expect(key: string, expected: string | null): void {
    const newest = this.#find({ key, versionId: null })
    const etag = newest === undefined || newest.isDeleteMarker ? null : newest.etag
    if (etag !== expected)
      throw new SiteFault('failed', `${key}: PreconditionFailed`, { s3Code: 'PreconditionFailed' })
  }

  #push(key: string, version: MemoryVersion): void {
    const older = this.isVersioned ? (this.keys.get(key) ?? []) : []
    this.keys.set(key, [version, ...older])
  }

  #nextId(): string {
    this.#made++
    return `V${this.#made}`.padEnd(26, '0')
  }
}
