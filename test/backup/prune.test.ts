/** The removal of backups, and of chunks that only they need. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { backupFolder, chunkName, manifestName, SHARDS } from '../../src/backup/format/names.ts'
import {
  estimateFreed,
  listedIn,
  planPrune,
  type PruneParts,
  removeBackups,
  sweepShard,
} from '../../src/backup/retention/prune.ts'
import { DirectoryTarget } from '../../src/backup/targets/directory-target.ts'
import { type BackupTarget, TargetUnreachable } from '../../src/backup/targets/target.ts'
import type { KeepRules } from '../../src/state-machine/long-operations/records.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { chunkOf, CLUSTER, idOf, makeBackup, readAllBackups } from './made-backups.ts'
import { namesIn, piecesOf } from './target-suite.ts'

const NONE: KeepRules = { last: 0, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0 }
const LAST_2 = { ...NONE, last: 2 }
const wanted = async (): Promise<void> => undefined

function partsOf(target: BackupTarget): PruneParts {
  return { target, clusterId: CLUSTER, masterKey: testMasterKey }
}

/** All steps, as the driver takes them. */
async function prune(target: BackupTarget, keep: KeepRules, tenantId: string | null = null) {
  const parts = partsOf(target)
  await removeBackups(parts, await planPrune(parts, { keep, tenantId }), wanted)
  const plan = await planPrune(parts, { keep, tenantId })
  const stays = listedIn(plan)
  const problems: string[] = []
  let [chunks, bytes] = [0, 0]
  if (plan.unreadable.length === 0)
    for (const shard of SHARDS) {
      const swept = await sweepShard(parts, { stays, shard }, wanted)
      chunks += swept.chunks
      bytes += swept.bytes
      if (swept.problem !== null) problems.push(swept.problem)
    }
  return { plan, chunks, bytes, problems }
}

/** Three backups: `old` is in the first alone, `both` in all, `new` in the last two. */
async function threeBackups(t: { testdir(): string }) {
  const folder = t.testdir()
  const target = new DirectoryTarget(folder)
  await makeBackup(target, { day: 1, chunks: ['old', 'both'] })
  await makeBackup(target, { day: 2, chunks: ['both', 'new'] })
  await makeBackup(target, { day: 3, chunks: ['both', 'new', 'newest'] })
  return { folder, target }
}

t.test('a prune', async (t) => {
  t.test('leaves backups of other scopes, and every chunk that they name', async (t) => {
    const target = new DirectoryTarget(t.testdir())
    await makeBackup(target, { day: 1, chunks: ['of all', 'of acme'] })
    await makeBackup(target, { day: 2, chunks: ['of acme'], tenantId: 'acme' })
    await makeBackup(target, { day: 3, chunks: ['of acme', 'acme alone'], tenantId: 'acme' })
    await makeBackup(target, { day: 4, chunks: ['of beta'], tenantId: 'beta' })
    await makeBackup(target, { day: 5, chunks: ['acme alone'], tenantId: 'acme' })
    const last = { ...NONE, last: 1 }
    const { plan, chunks } = await prune(target, last, 'acme')
    t.same(
      plan.kept.map(({ backup: { id }, reasons }) => [id, ...reasons]),
      [
        [idOf(5), 'newest', 'last'],
        [idOf(4), 'otherScope'],
        [idOf(1), 'otherScope'],
      ],
    )
    t.equal(chunks, 0, 'the backup of the cluster names what those of the tenant named')
    t.same(await readAllBackups(target), [idOf(1), idOf(4), idOf(5)])
    await makeBackup(target, { day: 6, chunks: ['of all'] })
    t.match(await prune(target, last), { chunks: 1 }, 'which goes with it')
    t.same(await readAllBackups(target), [idOf(4), idOf(5), idOf(6)])
  })

  t.test('removes what no rule keeps, and the chunks that none of the others names', async (t) => {
    const { target } = await threeBackups(t)
    const parts = partsOf(target)
    t.match(await estimateFreed(await planPrune(parts, { keep: LAST_2, tenantId: null })), {
      chunks: 1,
      bytes: chunkOf('old').bytes.length,
    })
    t.match(await prune(target, LAST_2), { chunks: 1, bytes: chunkOf('old').bytes.length, problems: [] })
    t.same(await readAllBackups(target), [idOf(2), idOf(3)])
    t.same(
      await namesIn(target, 'chunks/'),
      ['both', 'new', 'newest'].map((name) => chunkName(CLUSTER, chunkOf(name).entry)).sort(),
    )
    t.same(await namesIn(target, backupFolder(CLUSTER, idOf(1))), [])
    t.match(await prune(target, LAST_2), { chunks: 0, plan: { removed: [] } }, 'a second one finds nothing')
  })

  t.test('never removes the newest good backup', async (t) => {
    const { target } = await threeBackups(t)
    await makeBackup(target, { day: 4, chunks: ['both'], missingCount: 1 })
    await prune(target, { ...NONE, yearly: 1 })
    t.same(await readAllBackups(target), [idOf(3), idOf(4)], 'an incomplete one that is newer stays too')
  })

  t.test(
    'breaks off at any removal without harm to what is listed, and the next one does the rest',
    async (t) => {
      for (let most = 0; ; most++) {
        const { target } = await threeBackups(t)
        const breaking = new BreakingTarget(target, most)
        const isBroken = await prune(breaking, LAST_2).then(
          () => false,
          () => true,
        )
        t.ok((await readAllBackups(target)).length >= 2, `after ${most} removals`)
        await prune(target, LAST_2)
        t.same(await readAllBackups(target), [idOf(2), idOf(3)])
        t.equal((await namesIn(target, 'chunks/')).length, 3)
        if (!isBroken) break
      }
    },
  )

  t.test('removes no chunk while a backup cannot be read, for its chunks are not known', async (t) => {
    const { folder, target } = await threeBackups(t)
    writeFileSync(join(folder, manifestName(CLUSTER, idOf(2))), 'no manifest')
    const { plan, chunks } = await prune(target, { ...NONE, last: 1 })
    t.match(plan.unreadable, [{ id: idOf(2), problem: /not JSON/ }])
    t.equal(chunks, 0)
    t.match(await estimateFreed(plan), { chunks: 0 })
    t.ok((await namesIn(target, backupFolder(CLUSTER, idOf(2)))).length > 1, 'and it stays')
    t.equal((await namesIn(target, 'chunks/')).length, 4)
  })

  t.test('leaves a shard as it is when a list of its chunks cannot be read', async (t) => {
    const { folder, target } = await threeBackups(t)
    const shard = chunkOf('old').entry.id.slice(0, 2)
    await makeBackup(target, { day: 4, chunks: ['both', `${await namedIn(shard)}`] })
    rmSync(join(folder, backupFolder(CLUSTER, idOf(4)), 'a', `chunks-${shard}`))
    const { problems } = await prune(target, { ...NONE, last: 1 })
    t.equal(problems.length, 1)
    t.ok((await namesIn(target, 'chunks/')).includes(chunkName(CLUSTER, chunkOf('old').entry)))
  })

  t.test('removes no chunk of a backup that was unreadable for a while and is listed again', async (t) => {
    const { folder, target } = await threeBackups(t)
    const parts = partsOf(target)
    const file = join(folder, manifestName(CLUSTER, idOf(1)))
    const manifest = readFileSync(file)
    writeFileSync(file, 'damaged')
    const last = { keep: { ...NONE, last: 1 }, tenantId: null }
    await removeBackups(parts, await planPrune(parts, last), wanted)
    writeFileSync(file, manifest)
    const plan = await planPrune(parts, last)
    t.same([plan.unreadable, plan.removed.map(({ id }) => id)], [[], [idOf(1)]])
    for (const shard of SHARDS) await sweepShard(parts, { stays: listedIn(plan), shard }, wanted)
    t.same(await readAllBackups(target), [idOf(1), idOf(3)])
  })

  t.test('removes what an interrupted backup left, and nothing of other clusters', async (t) => {
    const { target } = await threeBackups(t)
    const left = `${backupFolder(CLUSTER, idOf(5))}a/state-0`
    const others = [
      `${backupFolder('other', idOf(1))}a/state-0`,
      chunkName('other', chunkOf('old').entry),
      'target-0123',
    ]
    for (const name of [left, ...others]) await target.put(name, piecesOf('x'), 1)
    await prune(target, LAST_2)
    t.equal(await target.head(left), undefined)
    for (const name of others) t.equal(await target.head(name), 1, name)
  })

  t.test('stops as soon as it is not wanted any more', async (t) => {
    const { target } = await threeBackups(t)
    const parts = partsOf(target)
    const refused = new Error('not wanted')
    const check = async (): Promise<void> => {
      throw refused
    }
    await t.rejects(
      removeBackups(parts, await planPrune(parts, { keep: LAST_2, tenantId: null }), check),
      refused,
    )
    const plan = await planPrune(parts, { keep: { ...NONE, last: 1 }, tenantId: null })
    const stays = plan.kept.map(({ backup }) => backup.reader)
    const shard = chunkOf('old').entry.id.slice(0, 2)
    await t.rejects(sweepShard(parts, { stays, shard }, check), refused)
    t.same(await readAllBackups(target), [idOf(1), idOf(2), idOf(3)])
  })
})

/** The name of a chunk in this shard. */
async function namedIn(shard: string): Promise<string> {
  for (let n = 0; ; n++) if (chunkOf(`in-${n}`).entry.id.startsWith(shard)) return `in-${n}`
}

/** Goes away after so many removals. */
class BreakingTarget implements BackupTarget {
  readonly #inner: BackupTarget
  #left: number

  constructor(inner: BackupTarget, removals: number) {
    this.#inner = inner
    this.#left = removals
  }

  get description(): string {
    return this.#inner.description
  }
  put(...args: Parameters<BackupTarget['put']>): Promise<void> {
    return this.#inner.put(...args)
  }
  get(...args: Parameters<BackupTarget['get']>): AsyncIterable<Uint8Array> {
    return this.#inner.get(...args)
  }
  head(name: string): Promise<number | undefined> {
    return this.#inner.head(name)
  }
  list(prefix: string): ReturnType<BackupTarget['list']> {
    return this.#inner.list(prefix)
  }
  async remove(name: string): Promise<void> {
    if (this.#left-- <= 0) throw new TargetUnreachable('it is away')
    await this.#inner.remove(name)
  }
  close(): Promise<void> {
    return this.#inner.close()
  }
}
