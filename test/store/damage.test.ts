/**
 * Single flipped bits in every kind of file of a real LevelDB: what a start does about them, and what readers see.
 *
 * Rule: a state that opens after an unclean stop is one that was there after some batch, rows, record and checksum
 * alike; any other content of the disk is a fault. Nothing is thrown. The outcomes are counted and printed.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { StateDamagedError } from '../../cluster/index.ts'
import { SILENT } from '../helpers/loggers.ts'
import { seeded } from '../helpers/node-world.ts'
import { liveFiles } from '../../src/store/level/level-manifest.ts'
import { LevelStateMachine } from '../../src/store/apply/level-state-machine.ts'
import { rowsOf } from '../../src/store/rows/row-block.ts'
import { put, putChunks } from '../state-machine/map-world.ts'
import { copyOfOpen } from './open-copy.ts'
import { blocksOf, indexIn, StoreWorld, type Teardown, temporaryDirectory } from './store-world.ts'
import { testMetadataKey } from '../helpers/sealed-metadata.ts'

const SEED = Number(process.env['DAMAGE_SEED'] ?? 3)
const FLIPS = Number(process.env['DAMAGE_FLIPS'] ?? 200)
const BATCHES = 24

/** After every batch: the digest of all rows, and the running checksum. */
type History = Map<number, { readonly rows: string; readonly sum: string }>

interface Built {
  readonly dir: string
  /** The last batch that a checkpoint has made durable, which every start is. */
  readonly checkpointed: number
  readonly history: History
  readonly rows: ReadonlyMap<string, Buffer>
}

async function digestOf(machine: LevelStateMachine): Promise<string> {
  const digest = createHash('sha256')
  const cut = await machine.snapshot()
  for (const { rows } of await blocksOf(cut)) digest.update(rows ?? '')
  await cut.release()
  return digest.digest('hex')
}

/** Several tables, a manifest with several edits, and batches that are in the log only; rows that were replaced and removed. */
async function build(t: Teardown, { isClosed }: { isClosed: boolean }): Promise<Built> {
  const dir = temporaryDirectory(t)
  const history: History = new Map()
  let world = await StoreWorld.open(t, dir)
  let checkpointed = 0
  const machine = (): LevelStateMachine => world.store.stateMachine
  await world.apply([
    { ...({ type: 'createTenant', id: 'acme', name: 'acme' } as const), ...tenantKeys() },
    {
      type: 'createBucket',
      tenantId: 'acme',
      name: 'photos',
      bucketsMax: 10,
      versioning: 'Unversioned',
      objectLockEnabled: false,
    },
  ])
  history.set(world.index, { rows: await digestOf(machine()), sum: hex(machine().checksum()) })
  for (let batch = 0; batch < BATCHES; batch++) {
    await world.apply([
      ...Array.from({ length: 6 }, (_, i) => {
        const key = `k${(batch * 3 + i) % 40}`
        const sealed = Buffer.alloc(300 + 40 * i, `${batch} ${i}`)
        return put(key, { kind: 'inline', chunkId: `c-${key}`, sealed }, sealed.length)
      }),
      putChunks(`big${batch % 5}`, [`c${batch}`, `d${batch}`]),
      {
        type: 'deleteObject',
        tenantId: 'acme',
        bucket: 'photos',
        key: `k${(batch * 5) % 40}`,
        versionId: null,
        ifMatch: null,
      },
    ])
    history.set(world.index, { rows: await digestOf(machine()), sum: hex(machine().checksum()) })
    if (batch % 6 === 1) {
      // Each start makes a table of what the log holds.
      await machine().close()
      world = await StoreWorld.open(t, dir)
      checkpointed = world.index
    }
  }
  const rows = new Map<string, Buffer>()
  const cut = await machine().snapshot()
  for (const block of await blocksOf(cut)) {
    for (const { key, value } of rowsOf(block.rows ?? Buffer.alloc(0))) rows.set(key.toString(), value)
  }
  await cut.release()
  if (isClosed) await machine().close()
  const image = temporaryDirectory(t)
  copyOfOpen(dir, image)
  return { dir: image, checkpointed, history, rows }
}

function tenantKeys() {
  return { dataKey: Uint8Array.of(1), dedupKey: Uint8Array.of(2), masterKeyId: 'mk-1' }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

const KINDS = [/\.ldb$/, /\.log$/, /^MANIFEST-/, /^CURRENT$/]

function copied(dir: string, copy: string): string {
  rmSync(copy, { recursive: true, force: true })
  cpSync(dir, copy, { recursive: true })
  return 'nothing was flipped'
}

/** Files that LevelDB counts on. Files that a compaction left behind stay while the machine is busy, and mean nothing. */
async function liveNames(state: string): Promise<string[]> {
  const { tables, firstLog } = await liveFiles(state)
  const manifest = readFileSync(join(state, 'CURRENT'), 'utf8').trimEnd()
  return readdirSync(state).filter((name) => {
    const number = Number.parseInt(name, 10)
    if (name.endsWith('.ldb')) return tables.has(number)
    return name.endsWith('.log') ? number >= firstLog : name === manifest || name === 'CURRENT'
  })
}

/** Copies the state, flips one bit of one file, and returns which. */
async function flipped(dir: string, copy: string, random: () => number): Promise<string> {
  copied(dir, copy)
  const states = readdirSync(copy).filter((name) => name.startsWith('state-'))
  const state = join(copy, states[0] ?? 'none')
  // Tables hold most of it and have the most ways to go wrong.
  const kind = KINDS[Math.max(0, (random() % 7) - 3)] ?? /\.ldb$/
  const names = (await liveNames(state)).filter((name) => kind.test(name))
  const name = names[random() % names.length]
  assert(name !== undefined)
  const bytes = readFileSync(join(state, name))
  if (bytes.length === 0) return `${name} is empty`
  const bit = random() % (bytes.length * 8)
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  writeFileSync(join(state, name), bytes)
  return `bit ${bit} of ${name} (${bytes.length} bytes)`
}

class Outcomes {
  readonly #counts = new Map<string, number>()

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0
  }

  toString(): string {
    return [...this.#counts].map(([what, count]) => `${what}: ${count}`).join(', ')
  }
}

t.test('a flipped bit after an unclean stop', async (t) => {
  const { dir, checkpointed, history } = await build(t, { isClosed: false })
  const last = Math.max(...history.keys())
  const random = seeded(SEED)
  const copy = temporaryDirectory(t)
  const outcomes = new Outcomes()
  for (let i = 0; i <= FLIPS; i++) {
    // Once without damage, so that a state that is never accepted would be seen.
    const what = i < FLIPS ? await flipped(dir, copy, random) : copied(dir, copy)
    const machine = new LevelStateMachine({ dir: copy, logger: SILENT, metadataKey: testMetadataKey() })
    const { record, fault } = await machine.open()
    if (fault !== null) {
      outcomes.count('fault')
      if (record !== null) t.fail(`a record beside a fault: ${what}`)
    } else {
      const index = indexIn(record)
      const truth = history.get(index)
      const isTrue = truth?.rows === (await digestOf(machine)) && truth.sum === hex(machine.checksum())
      // Damage of a log cannot be distinguished from what a power cut takes of it: batches since the last checkpoint are applied again.
      if (!isTrue || index < checkpointed) t.fail(`wrong rows at index ${index}: ${what}`)
      if (index < last && !/\.log /.test(what)) t.fail(`batches were lost: ${what}`)
      outcomes.count(index === last ? 'the true state' : 'the true state of an earlier batch')
    }
    await machine.close()
  }
  t.comment(`${FLIPS} flips: ${outcomes.toString()}`)
  t.ok(outcomes.of('fault') > FLIPS / 2 && outcomes.of('the true state') > 0, outcomes.toString())
})

t.test('a flipped bit after a clean stop', async (t) => {
  const { dir, rows } = await build(t, { isClosed: true })
  const random = seeded(SEED)
  const copy = temporaryDirectory(t)
  const outcomes = new Outcomes()
  for (let i = 0; i <= FLIPS; i++) {
    // Once without damage, so that a state that is never accepted would be seen.
    const what = i < FLIPS ? await flipped(dir, copy, random) : copied(dir, copy)
    const machine = new LevelStateMachine({ dir: copy, logger: SILENT, metadataKey: testMetadataKey() })
    const { fault } = await machine.open()
    if (fault !== null) {
      outcomes.count('fault at the start')
      await machine.close()
      continue
    }
    const seen = readAll(machine, rows)
    for (const one of seen) outcomes.count(one)
    if (seen.has('a row that is missing') || seen.has('a row of an earlier batch'))
      t.fail(`wrong rows: ${what}`)
    if (!seen.has('StateDamagedError')) t.equal(await machine.verify(), null, what)
    await machine.close()
  }
  t.comment(`${FLIPS} flips: ${outcomes.toString()}`)
  t.ok(
    outcomes.of('fault at the start') > FLIPS / 2 && outcomes.of('only true rows') > 0,
    outcomes.toString(),
  )
})

/** What a reader of every row meets. */
function readAll(machine: LevelStateMachine, rows: ReadonlyMap<string, Buffer>): Set<string> {
  const seen = new Set<string>()
  const state = machine.handle.current
  for (const [key, truth] of rows) {
    try {
      const value = state.readVerified(Buffer.from(key))
      if (value === undefined) seen.add('a row that is missing')
      else if (!value.equals(truth)) seen.add('a row of an earlier batch')
    } catch (error) {
      if (!(error instanceof StateDamagedError)) throw error
      seen.add('StateDamagedError')
    }
  }
  return seen.size === 0 ? new Set(['only true rows']) : seen
}
