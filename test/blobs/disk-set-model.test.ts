/**
 * Random calls to three disks, some at once, while disks vanish, come back, fail and are emptied: what was acknowledged on a disk that is
 * there is read back exactly, what was removed is gone, and other bytes than the ones that were written are never read.
 */
import { mkdir, rename, rm } from 'node:fs/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import type { BlobDisks } from '../../cluster/blobs/disks/blob-disks.ts'
import type { DiskSet } from '../../cluster/blobs/disks/disk-set.ts'
import { drainDisk } from '../../cluster/blobs/disks/prepare-disk.ts'
import { shareOf } from '../helpers/proof-size.ts'
import { collect, sha256, streamOf } from './blob-samples.ts'
import { DisksWorld, largeBlobs, OWNER } from './disks-world.ts'

const BLOBS = largeBlobs(8)
const DISKS = 3
const RUNS = shareOf(25, 5)
type Blob = (typeof BLOBS)[number]

type Call = { readonly kind: 'write' | 'read' | 'verify' | 'remove' | 'move'; readonly blob: number }
interface OfDisk {
  readonly kind: 'drain' | 'use' | 'unmount' | 'mount' | 'break'
  readonly disk: number
}
type Event = OfDisk | { readonly kind: 'look' | 'restart' | 'evenOut' }
type Step = readonly Call[] | Event

const call: fc.Arbitrary<Call> = fc.record({
  kind: fc.constantFrom('write', 'write', 'read', 'verify', 'remove', 'move'),
  blob: fc.nat(BLOBS.length - 1),
})
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constantFrom('drain', 'use', 'unmount', 'mount', 'break'), disk: fc.nat(DISKS - 1) }),
  fc.record({ kind: fc.constantFrom('look', 'restart', 'evenOut') }),
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.array(call, { minLength: 1, maxLength: 5 }) },
  { weight: 1, arbitrary: event },
)

/** `unknown`: a disk with it, or one that was away when it was removed, is or was out. */
type Known = 'present' | 'absent' | 'unknown'

class Model {
  readonly #world: DisksWorld
  readonly #locks = new CopyLocks()
  readonly #known = new Map<Blob, Known>(BLOBS.map((blob) => [blob, 'absent']))
  #opened: { readonly set: DiskSet; readonly store: BlobDisks }

  constructor(world: DisksWorld, opened: { readonly set: DiskSet; readonly store: BlobDisks }) {
    this.#world = world
    this.#opened = opened
  }

  async take(one: Step): Promise<void> {
    if (isCalls(one)) await Promise.all(one.map((each) => this.#call(each)))
    else await this.#event(one)
    await this.#check()
  }

  get #isAnyOut(): boolean {
    const { set } = this.#opened
    return this.#world.broken !== null || set.used.length < DISKS
  }

  async #call({ kind, blob: at }: Call): Promise<void> {
    const blob = BLOBS[at]
    if (blob === undefined) return
    const { store } = this.#opened
    if (kind === 'read') {
      const bytes = await collect(store.read(blob, 0, blob.size)).catch(() => null)
      if (bytes !== null && sha256(bytes) !== blob.checksum) throw new Error('other bytes were read')
      return
    }
    await this.#locks.hold(blob, async () => {
      if (kind === 'write')
        await this.#outcome(blob, store.write(blob, streamOf(blob.bytes), blob), 'present')
      else if (kind === 'remove')
        await this.#outcome(blob, store.remove([blob]), this.#isAnyOut ? 'unknown' : 'absent')
      else if (kind === 'verify') await store.verify(blob).catch(() => undefined)
      else await store.mover.moveOff(blob).catch(() => undefined)
    })
  }

  async #outcome(blob: Blob, work: Promise<void>, after: Known): Promise<void> {
    this.#known.set(
      blob,
      await work.then(
        () => after,
        () => 'unknown' as const,
      ),
    )
  }

  async #event(one: Event): Promise<void> {
    if ('disk' in one) return this.#ofDisk(one)
    if (one.kind === 'look') await this.#opened.set.look()
    else if (one.kind === 'restart') await this.#restart()
    else await this.#evenOut()
  }

  async #ofDisk({ kind, disk }: OfDisk): Promise<void> {
    const { dataDir, directories } = this.#world
    const directory = directories[disk] ?? ''
    if (kind === 'break') return this.#break(directory)
    if (kind === 'mount' || kind === 'unmount') return this.#mount(directory, kind === 'mount')
    await drainDisk({ ...OWNER, dataDir, directories }, directory, kind === 'drain').catch(() => undefined)
    await this.#opened.set.look()
  }

  async #mount(directory: string, isThere: boolean): Promise<void> {
    if (isThere) {
      await rename(`${directory}.away`, `${directory}.back`).then(
        async () => {
          await rm(directory, { recursive: true })
          await rename(`${directory}.back`, directory)
        },
        () => undefined,
      )
    } else if (!this.#out.has(directory)) {
      await this.#doubt(directory)
      await rename(directory, `${directory}.away`)
      await mkdir(directory)
    }
    if (isThere) this.#out.delete(directory)
    else this.#out.add(directory)
    await this.#opened.set.look()
  }

  readonly #out = new Set<string>()

  /** From now on every operation on it fails, until the next restart. */
  async #break(directory: string): Promise<void> {
    if (this.#world.broken !== null) return
    await this.#doubt(directory)
    this.#world.broken = directory
  }

  /** Whatever has no copy elsewhere, or has one that may come back, is not known any more. */
  async #doubt(directory: string): Promise<void> {
    for (const [blob, known] of this.#known) {
      const places = await this.#world.where(blob)
      if (known === 'present' && !places.some((place) => place !== directory))
        this.#known.set(blob, 'unknown')
      if (known === 'absent' && places.length > 0) this.#known.set(blob, 'unknown')
    }
  }

  async #restart(): Promise<void> {
    await this.#opened.store.close()
    this.#world.broken = null
    this.#opened = await this.#world.open()
  }

  async #evenOut(): Promise<void> {
    const { set, store } = this.#opened
    const [from, ...to] = set.open.map(({ diskId }) => diskId)
    if (from === undefined || to.length === 0) return
    for (const blob of BLOBS)
      await this.#locks.hold(blob, () => store.mover.moveTo(blob, { from, to })).catch(() => undefined)
  }

  async #check(): Promise<void> {
    const { store } = this.#opened
    const listed = await store.list(null, 100)
    for (const [blob, known] of this.#known) {
      const isListed = listed.some(({ id }) => id === blob.id)
      if (known === 'unknown') continue
      if (isListed !== (known === 'present'))
        throw new Error(`${blob.id} is ${known}, and listed: ${isListed}`)
      if (known === 'absent') continue
      const bytes = await collect(store.read(blob, 0, blob.size))
      if (sha256(bytes) !== blob.checksum) throw new Error(`${blob.id} has other bytes`)
    }
  }
}

const isCalls = (one: Step): one is readonly Call[] => Array.isArray(one)

async function play(t: Test, steps: readonly Step[]): Promise<void> {
  const world = await DisksWorld.make(t, 0, DISKS)
  const opened = await world.open()
  const model = new Model(world, opened)
  for (const one of steps) await model.take(one)
}

t.test('three disks under random calls and failures', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) => play(t, steps)),
    { numRuns: RUNS, endOnFailure: true },
  )
})
