/** Bytes of versions in a backup, and the comparison with what a restore made of them. [src/backup/restore-into] */
import t from 'tap'
import { compareVersions, type Comparing } from '../../src/backup/restore-into/comparison.ts'
import type { Checked } from '../../src/backup/restore-into/restore-cursor.ts'
import { PieceMissing, SourceBodies } from '../../src/backup/restore-into/source-bodies.ts'
import { newestFirst } from '../../src/backup/restore-into/version-walk.ts'
import { TargetCorrupt, TargetMissing, TargetUnreachable } from '../../src/backup/targets/target.ts'
import { KeyRing } from '../../src/content/key-ring.ts'
import { sealChunk } from '../../src/content/sealing.ts'
import { TenantKeys } from '../../src/content/tenant-keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { TenantRecord } from '../../src/state-machine/tenants/records.ts'
import { newestVersion } from '../../src/state-machine/versions/versions.ts'
import {
  createBucket,
  createTenant,
  fresh,
  MapWorld,
  OPEN_SESSION,
  putChunks,
  remove,
} from '../state-machine/map-world.ts'
import { all, rowsOf } from './restore-into-world.ts'

const KEYS = TenantKeys.fromBytes(Buffer.alloc(32, 1), Buffer.alloc(32, 2))
const RING = new KeyRing({ version: 1, keys: KEYS })
const bytes = (text: string) => Buffer.from(text.padEnd(10, '.'))

let births = 0

/** A chunk of ten bytes as an upload stores it, and what lies in the target. */
function chunk(text: string, sealedAs = bytes(text)) {
  const id = KEYS.chunkIdOf(bytes(text))
  const { sealed, checksum } = sealChunk(KEYS, { id, plain: [sealedAs] }, 'none')
  return {
    sealed: Buffer.from(sealed),
    use: fresh(id, { birth: `birth-${++births}`, sealedSize: sealed.length, checksum }),
  }
}

interface World {
  readonly world: MapWorld
  readonly lies: Map<string, Buffer>
}

function started(): World {
  const world = new MapWorld()
  world.do(createTenant('acme'))
  world.entry([createBucket('photos', { versioning: 'Enabled' }), OPEN_SESSION])
  return { world, lies: new Map() }
}

function put({ world, lies }: World, key: string, text: string, sealedAs = bytes(text)): void {
  const { sealed, use } = chunk(text, sealedAs)
  lies.set(use.id, sealed)
  world.do(putChunks(key, [use]))
}

/** What the backup has is what the world has now. */
function opened({ world, lies }: World) {
  const { rows } = rowsOf(new Map(world.rows), 3)
  const tenant = world.get(tenantKeys.tenant('acme')) as TenantRecord
  const reader = {
    nameOf: ({ id }: { readonly id: string }) => `chunks/${id}`,
    chunk: async ({ id }: { readonly id: string }): Promise<Buffer> => {
      const found = lies.get(id)
      if (found === undefined) throw new TargetMissing(`no ${id}`)
      return found
    },
  }
  const bodies = new SourceBodies({ reader, rows, tenant, ring: RING })
  return { rows, tenant, bodies, reader }
}

const bucketOf = (world: MapWorld): BucketRecord =>
  world.get(bucketKeys.bucket('acme', 'photos')) as BucketRecord

type Opened = ReturnType<typeof opened>

async function plainOf(source: Opened, world: MapWorld, key: string): Promise<string> {
  const bucket = bucketOf(world)
  const version = newestVersion(world, bucket.id, key)
  if (version?.kind !== 'object') throw new Error(`${key} is no object`)
  const at = { bucketId: bucket.id, id: version.versionId, size: version.size }
  const pieces = await all(source.bodies.pieces(at, version.body))
  return Buffer.concat(await Promise.all(pieces.map((piece) => source.bodies.plain(piece)))).toString()
}

t.test('bytes of a version', async (t) => {
  t.test('are opened from their chunks', async (t) => {
    const made = started()
    put(made, 'a', 'one')
    t.equal(await plainOf(opened(made), made.world, 'a'), 'one.......')
  })

  t.test('count only when they are those of their id', async (t) => {
    const made = started()
    put(made, 'a', 'one', bytes('other'))
    await t.rejects(plainOf(opened(made), made.world, 'a'), PieceMissing)
  })

  t.test('are missing where the target has none, or others, and where they do not open', async (t) => {
    const made = started()
    put(made, 'a', 'one')
    const [id = '', sealed] = [...made.lies][0] ?? []
    made.lies.delete(id)
    await t.rejects(plainOf(opened(made), made.world, 'a'), { name: 'PieceMissing', message: /is missing/ })
    made.lies.set(id, Buffer.from(sealed ?? []).fill(0, 3, 9))
    await t.rejects(plainOf(opened(made), made.world, 'a'), {
      name: 'PieceMissing',
      message: /does not open/,
    })
  })

  t.test('are waited for while the target is away', async (t) => {
    const made = started()
    put(made, 'a', 'one')
    for (const [error, isMissing] of [
      [new TargetUnreachable('away'), false],
      [new TargetCorrupt('changed'), true],
    ] as const) {
      const source = opened(made)
      source.reader.chunk = () => Promise.reject(error)
      await t.rejects(plainOf(source, made.world, 'a'), isMissing ? PieceMissing : error)
    }
  })

  t.test('are missing without the row of their chunk, and under a key that is not there', async (t) => {
    const made = started()
    put(made, 'a', 'one')
    const source = opened(made)
    const [id = ''] = made.lies.keys()
    const row = made.world.get(chunkKeys.chunk('acme', id))
    if (row === undefined) throw new Error('no row')
    for (const keyVersion of [0, 7]) {
      made.world.rows.set(chunkKeys.chunk('acme', id), { ...row, keyVersion })
      await t.rejects(plainOf(opened(made), made.world, 'a'), PieceMissing, `${keyVersion}`)
    }
    made.world.rows.delete(chunkKeys.chunk('acme', id))
    await t.rejects(plainOf(opened(made), made.world, 'a'), { message: /has no row/ })
    t.equal(await plainOf(source, made.world, 'a'), 'one.......')
  })
})

/** The whole comparison, step by step; `read`: what the cluster gives. */
async function compared(source: Opened, world: MapWorld, read: (key: string) => Buffer) {
  const from = bucketOf(world)
  const sums = { equal: 0, absent: 0, different: [] as string[], met: 0 }
  for (let checked: Checked | null = null; ; ) {
    const bucket = bucketOf(world)
    const { tenant } = source
    const content = {
      read: async function* (_: unknown, { object }: { readonly object: { readonly key: string } }) {
        const whole = read(object.key)
        yield whole.subarray(0, 3)
        yield whole.subarray(3)
      },
    } as Comparing['content']
    const comparing = { source, from, bucket, tenant, state: world, content, pace: async () => undefined }
    const walk = newestFirst(source.rows, from.id, checked?.after ?? null)
    const step = await compareVersions(walk, checked, { ...comparing, sealed: {} as Comparing['sealed'] })
    sums.equal += step.equal
    sums.absent += step.absent
    sums.different.push(...step.different.map(({ key }) => key))
    if (step.checked === null) return sums
    checked = step.checked
    sums.met = checked.met
  }
}

t.test('the comparison', async (t) => {
  const filled = () => {
    const made = started()
    for (const [key, text] of [
      ['a', 'one'],
      ['a', 'two'],
      ['b', 'three'],
      ['b', 'four'],
    ] as const)
      put(made, key, text)
    made.world.do(remove('b'))
    const { world } = made
    const texts = (key: string) => bytes(key === 'a' ? 'two' : 'four')
    return { world, source: opened(made), texts }
  }

  t.test('meets each version, and says which bytes are others', async (t) => {
    const { world, source, texts } = filled()
    const found = await compared(source, world, texts)
    t.match(found, { equal: 3, absent: 0, met: 5 }, 'newest bytes are given for each version of a key')
    t.same(found.different, ['a', 'b'])
  })

  t.test('says when more or fewer bytes come than the backup has', async (t) => {
    for (const wrong of [bytes('two').subarray(1), Buffer.concat([bytes('two'), bytes('')])]) {
      const { world, source } = filled()
      t.equal((await compared(source, world, () => wrong)).equal, 1, 'only the marker')
    }
  })

  t.test('passes over a version that did not come back, and meets the rest', async (t) => {
    for (const lost of [0, 1, 2]) {
      const { world, source, texts } = filled()
      const bucket = bucketOf(world)
      const ids = (await all(newestFirst(source.rows, bucket.id, null))).filter(({ key }) => key === 'b')
      world.do(remove('b', ids[lost]?.versionId ?? ''))
      const found = await compared(source, world, texts)
      t.match(found, { absent: 1, met: 4 }, `${lost}`)
    }
  })

  t.test('does not meet a version that says anything else than the backup', async (t) => {
    const { world, source, texts } = filled()
    const change = { type: 'setObjectTags', tenantId: 'acme', bucket: 'photos', key: 'a' } as const
    world.do({ ...change, versionId: null, tags: { a: 'b' } })
    t.match(await compared(source, world, texts), { absent: 2, met: 3 })
  })
})
