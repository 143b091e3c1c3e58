/**
 * Random requests on buckets and objects: the request of each step, and the reads after it.
 *
 * Owns: the distribution. Rule: a step chooses among the objects of the model, so that refusals and successes are both frequent;
 * each write is read back at once, at another random node.
 */
import { OutcomeUnknown } from '../helpers/object-client.ts'
import type { Random } from '../programs/simulator/random.ts'
import type { ModelVersion } from '../state-machine/model-bucket.ts'
import {
  type Conditions,
  type Content,
  type ModelledObjects,
  NO_CONDITION,
  type Place,
  type Settings,
  type UploadPlace,
} from './modelled-objects.ts'
import type { ModelledReads } from './modelled-reads.ts'

const KEYS = ['a', 'a/1', 'a/2/x', 'a/2/y', 'a0', 'b c+d', '\u{1F600}', '\uFFFD/z']
const PREFIXES = ['', '', 'a', 'a/', 'a/2', 'b', 'none']
const HOUR_MS = 3_600_000
const PART_MIN = 5 * 1024 ** 2
/** Empty, inline, and one chunk. */
const SIZES = [0, 9, 700, 90_000]
const BUCKETS = {
  plain: { isVersioned: false, hasLock: false },
  kept: { isVersioned: true, hasLock: false },
  locked: { isVersioned: true, hasLock: true },
  /** A bucket that is created and deleted repeatedly. */
  brief: { isVersioned: false, hasLock: false },
} as const
type BucketName = keyof typeof BUCKETS

export class RandomRequests {
  /** How often the outcome of a request was unknown, and the buckets were replaced. */
  lost = 0
  readonly #objects: ModelledObjects
  readonly #reads: ModelledReads
  #random: Random
  readonly #completed: { upload: UploadPlace; parts: readonly { partNumber: number; etag: string }[] }[] = []
  #contents = 0

  constructor(objects: ModelledObjects, reads: ModelledReads, random: Random) {
    this.#objects = objects
    this.#reads = reads
    this.#random = random
  }

  /** At least this many requests. */
  async run(requests: number): Promise<void> {
    const { client, model } = this.#objects
    for (; client.requests < requests; ) {
      try {
        if (model.buckets.size === 0) await this.#createAll()
        await this.#step()
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) throw error
        // After an unknown outcome, no later request uses these buckets.
        this.lost += 1
        model.buckets.clear()
        this.#completed.length = 0
      }
    }
    await this.#readAll()
  }

  /** One step for each source of randomness, so that a step can be left out without a change of the others. */
  async steps(sources: Iterable<Random>): Promise<void> {
    await this.#createAll()
    for (const random of sources) {
      this.#random = random
      await this.#step()
    }
    await this.#readAll()
  }

  async #createAll(): Promise<void> {
    for (const name of this.#names()) await this.#create(name)
  }

  async #readAll(): Promise<void> {
    for (const bucket of this.#names()) {
      await this.#reads.list(bucket, '', '')
      await this.#reads.listVersions(bucket, '', '')
      await this.#reads.listUploads(bucket)
    }
    await this.#reads.listBuckets(this.#names())
  }

  async #step(): Promise<void> {
    const random = this.#random
    const place = this.#place()
    const steps: readonly (readonly [number, () => Promise<void>])[] = [
      [9, () => this.#put(place)],
      [5, () => this.#remove(place)],
      [2, () => this.#batchRemove(place)],
      [4, () => this.#copy(place)],
      [2, () => this.#tag(place)],
      [4, () => this.#lock(random.chance(0.8) ? this.#place('locked') : place)],
      [9, () => this.#multipart(place)],
      [3, () => this.#ofBucket(place)],
      [3, () => this.#list(place)],
      [1, () => this.#reads.get({ ...place, versionId: this.#versionId(place) })],
    ]
    let at = random.below(steps.reduce((sum, [weight]) => sum + weight, 0))
    for (const [weight, run] of steps) {
      at -= weight
      if (at < 0) return run()
    }
  }

  async #put(place: Place): Promise<void> {
    const random = this.#random
    const conditions = this.#conditions(place)
    const epoch = Math.floor(this.#objects.client.requests / 150)
    const idempotencyKey = random.chance(0.3) ? `once-${epoch}` : null
    const content = this.#content(random.below(6))
    const requested = { ...this.#settings(place), conditions, idempotencyKey }
    await this.#objects.put(place, content, requested)
    // A repeat, or another body under the same name.
    const next = random.chance(0.6) ? content : this.#content(random.below(6))
    if (idempotencyKey !== null && random.chance(0.6)) await this.#objects.put(place, next, requested)
    await this.#reads.get({ ...place, versionId: null })
  }

  async #remove(place: Place): Promise<void> {
    const versionId = this.#versionId(place)
    const etag = this.#random.chance(0.2) ? this.#etag(place) : null
    await this.#objects.remove({ ...place, versionId }, etag)
    await this.#reads.get({ ...place, versionId: this.#random.chance(0.5) ? versionId : null })
  }

  async #batchRemove({ bucket, key }: Place): Promise<void> {
    const keys = [key, key, this.#random.pick(KEYS)]
    const items = keys.map((one) => ({ key: one, versionId: this.#versionId({ bucket, key: one }) }))
    await this.#objects.batchRemove(bucket, items)
    await this.#reads.listVersions(bucket, '', '')
  }

  async #copy(place: Place): Promise<void> {
    const from = this.#random.chance(0.3) ? { ...place, bucket: this.#place().bucket } : this.#place()
    const source = { ...from, versionId: this.#versionId(from) }
    const isReplacing = this.#random.chance(0.5)
    const ifMatch = this.#random.chance(0.15) ? this.#etag(place) : null
    const ifNoneMatch = ifMatch === null && this.#random.chance(0.15) ? '*' : null
    await this.#objects.copy(place, source, { isReplacing, conditions: { ifMatch, ifNoneMatch } })
    await this.#reads.get({ ...place, versionId: null })
  }

  async #tag(place: Place): Promise<void> {
    const named = { ...place, versionId: this.#versionId(place) }
    await this.#objects.setTags(named, this.#random.chance(0.3) ? {} : this.#tags())
    await this.#reads.tags(named)
  }

  async #lock(place: Place): Promise<void> {
    const named = { ...place, versionId: this.#versionId(place) }
    const { bucket, versionId } = named
    if (this.#random.chance(0.6)) await this.#objects.setRetention(named, this.#retention())
    else await this.#objects.setLegalHold(named, this.#random.chance(0.5))
    const what = this.#random.fraction()
    if (what < 0.2) await this.#objects.setRetention(named, this.#retention())
    else if (what < 0.4) await this.#objects.remove(named, null)
    else if (what < 0.5) await this.#objects.batchRemove(bucket, [{ key: place.key, versionId }])
    await this.#reads.get(named)
  }

  async #multipart(place: Place): Promise<void> {
    const { model } = this.#objects
    const uploads = [...(model.buckets.get(place.bucket)?.uploads ?? [])]
    const random = this.#random
    const [repeated] = this.#completed.slice(-1 - random.below(3))
    if (repeated !== undefined && random.chance(0.1))
      return this.#objects.complete(repeated.upload, this.#misnamed(repeated.parts), NO_CONDITION)
    if (uploads.length === 0 || random.chance(0.25)) {
      await this.#objects.begin(place, this.#settings(place))
      return this.#reads.listUploads(place.bucket)
    }
    const [uploadId, { key, parts }] = random.pick(uploads)
    const upload = { bucket: place.bucket, key: random.chance(0.05) ? place.key : key, uploadId }
    const what = random.fraction()
    if (what < 0.5 || parts.size === 0) {
      const size = random.chance(0.25) ? PART_MIN : undefined
      await this.#objects.putPart(upload, 1 + random.below(3), this.#content(random.below(3), size))
      return this.#reads.listParts(upload)
    }
    if (what < 0.6) {
      await this.#objects.abort(upload)
      return this.#reads.listParts(upload)
    }
    const named = [...parts].map(([partNumber, { etag }]) => ({ partNumber, etag }))
    const whole = this.#misnamed(named.sort((a, b) => a.partNumber - b.partNumber))
    await this.#objects.complete(upload, whole, this.#conditions(upload))
    const { completed } = model.buckets.get(upload.bucket) ?? {}
    if (completed?.has(`${upload.key}/${uploadId}`) === true) this.#completed.push({ upload, parts: whole })
    await this.#reads.get({ bucket: upload.bucket, key, versionId: null })
  }

  /** Sometimes in reverse, with one part missing, or with the etag of another part. */
  #misnamed<T extends { readonly partNumber: number; readonly etag: string }>(parts: readonly T[]) {
    const random = this.#random
    if (random.chance(0.1)) return parts.toReversed()
    if (random.chance(0.25) && parts.length > 1) return parts.slice(1)
    return random.chance(0.05) ? parts.map((part) => ({ ...part, etag: `${'0'.repeat(32)}-1` })) : parts
  }

  async #ofBucket(place: Place): Promise<void> {
    const random = this.#random
    const [brief = ''] = this.#names().slice(-1)
    const bucket = random.chance(0.7) ? brief : place.bucket
    const what = random.fraction()
    if (what < 0.2) await this.#create(bucket)
    else if (what < 0.7) {
      if (random.chance(0.7)) await this.#clear(brief)
      await this.#objects.deleteBucket(bucket)
    } else {
      const states = ['Enabled', 'Suspended', 'Enabled', 'Suspended', 'Unversioned'] as const
      // Most buckets keep their first versioning state.
      await this.#objects.setVersioning(
        this.#name(random.pick(['kept', 'locked', 'brief'])),
        random.pick(states),
      )
    }
    await this.#reads.listBuckets(this.#names())
  }

  /** Removes everything that keeps the bucket from being deleted. */
  async #clear(bucket: string): Promise<void> {
    const { keys, uploads } = this.#objects.model.buckets.get(bucket) ?? {}
    const items = [...(keys ?? [])].flatMap(([key, versions]) =>
      versions.map(({ id: versionId }) => ({ key, versionId })),
    )
    if (items.length > 0) await this.#objects.batchRemove(bucket, items)
    for (const [uploadId, { key }] of uploads ?? []) await this.#objects.abort({ bucket, key, uploadId })
  }

  async #list({ bucket }: Place): Promise<void> {
    const [prefix, delimiter] = [this.#random.pick(PREFIXES), this.#random.pick(['', '/', '2'])]
    if (this.#random.chance(0.5)) await this.#reads.list(bucket, prefix, delimiter)
    else await this.#reads.listVersions(bucket, prefix, delimiter)
  }

  async #create(bucket: string): Promise<void> {
    const { isVersioned, hasLock } = BUCKETS[bucket.split('-')[0] as BucketName]
    await this.#objects.createBucket(bucket, isVersioned, hasLock)
  }

  #names(): readonly string[] {
    return Object.keys(BUCKETS).map((name) => this.#name(name as BucketName))
  }

  #name(bucket: BucketName): string {
    return `${bucket}-${this.lost}`
  }

  /** Mostly an existing key. */
  #place(name?: BucketName): Place {
    const names = ['plain', 'plain', 'kept', 'kept', 'kept', 'locked', 'locked', 'brief'] as const
    const bucket = this.#name(name ?? this.#random.pick(names))
    const present = [...(this.#objects.model.buckets.get(bucket)?.keys.keys() ?? [])]
    const isPresent = present.length > 0 && this.#random.chance(0.6)
    return { bucket, key: this.#random.pick(isPresent ? present : KEYS) }
  }

  #versions({ bucket, key }: Place): readonly ModelVersion[] {
    return this.#objects.model.buckets.get(bucket)?.keys.get(key) ?? []
  }

  #versionId(place: Place): string | null {
    const random = this.#random
    const versions = this.#versions(place)
    if (random.chance(0.4)) return null
    if (versions.length === 0 || random.chance(0.1))
      return random.pick(['null', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'no id'])
    return random.pick(versions).id
  }

  #conditions(place: Place): Conditions {
    const what = this.#random.fraction()
    if (what < 0.1) return { ifMatch: null, ifNoneMatch: '*' }
    if (what < 0.2) return { ifMatch: this.#etag(place), ifNoneMatch: null }
    return what < 0.25 ? { ifMatch: null, ifNoneMatch: this.#etag(place) } : NO_CONDITION
  }

  /** The id of the newest version, of another one, or a random one. */
  #etag(place: Place): string {
    const versions = this.#versions(place).filter(({ isMarker }) => !isMarker)
    const choice = this.#random.below(4)
    if (choice < 2) return versions[0]?.etag ?? '*'
    return choice === 2 ? '*' : (versions.at(-1)?.etag ?? `${'1'.repeat(32)}-1`)
  }

  #settings({ bucket }: Place): Settings {
    const random = this.#random
    const locks = bucket.startsWith('locked') ? 0.3 : 0.03
    const retention = random.chance(locks) ? this.#retention() : null
    return { tags: random.chance(0.2) ? this.#tags() : {}, retention, legalHold: random.chance(locks / 2) }
  }

  #tags(): Readonly<Record<string, string>> {
    return { n: `${this.#random.below(9)}`, 'two words': 'ä&=' }
  }

  /** Rounded up, so that equal dates occur. */
  #retention() {
    const mode = this.#random.pick(['GOVERNANCE', 'GOVERNANCE', 'COMPLIANCE'] as const)
    const hours = this.#random.pick([2, 2, 30, 300, -2])
    return { mode, until: (Math.ceil(Date.now() / HOUR_MS) + hours) * HOUR_MS }
  }

  /** 0 to 2: one of three that repeat. */
  #content(choice: number, size?: number): Content {
    const length = size ?? SIZES[choice % SIZES.length] ?? 0
    const isNew = choice > 2 || (size !== undefined && this.#random.chance(0.3))
    const name =
      length === 0 ? 'nothing' : isNew ? `new ${++this.#contents} of ${length}` : `same of ${length}`
    const bytes = Buffer.alloc(length, `${name}, `)
    return { name, bytes }
  }
}
