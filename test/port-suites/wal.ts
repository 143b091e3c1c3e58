/**
 * What every Wal guarantees, on any storage.
 *
 * Owns: the promises of cluster/wal/wal.ts as tests. Knows nothing of: segments, threads.
 * Rule: a suite uses only the port; a factory gives a fresh log, and the same log again after a restart.
 */
import t from 'tap'
import type { Entry, HardState, LogBase } from '../../cluster/raft/types.ts'
import type { Wal, WalBatch, WalContent, WalRepair } from '../../cluster/wal/wal.ts'

export interface WalPlace {
  /** Another Wal over the data of this place. */
  wal(): Wal
}

export interface DamagePlace extends WalPlace {
  /** Damages the bytes of the entry at `index` while no Wal is open. */
  damage(index: number): void
}

export function entry(index: number, term: number, text = `entry ${index} of term ${term}`): Entry {
  return { index, term, kind: text === '' ? 'noop' : 'command', data: new TextEncoder().encode(text) }
}

export function entries(first: number, last: number, term = 1): Entry[] {
  return Array.from({ length: last - first + 1 }, (_, position) => entry(first + position, term))
}

export function batchOf(sequence: number, parts: Partial<Omit<WalBatch, 'sequence'>> = {}): WalBatch {
  return { sequence, hardState: null, base: null, entries: [], ...parts }
}

/** Entries as text, so that a difference can be read. Holes are listed only if there are any. */
export function plain(content: Omit<WalContent, 'holes'> & Partial<WalContent>): object {
  return {
    hardState: { ...content.hardState },
    base: { ...content.base },
    entries: plainEntries(content.entries),
    ...((content.holes ?? []).length > 0 ? { holes: content.holes } : {}),
  }
}

function plainEntries(list: readonly Entry[]): object {
  const decoder = new TextDecoder()
  return list.map(({ index, term, kind, data }) => ({ index, term, kind, text: decoder.decode(data) }))
}

/** A Wal with its recorded events. */
export class WalSession {
  readonly wal: Wal
  readonly durable: number[] = []
  readonly fatal: Error[] = []
  diskFull = 0
  content: WalContent | null = null
  #sequence = 0
  #waiters: (() => void)[] = []

  constructor(wal: Wal) {
    this.wal = wal
  }

  static async open(wal: Wal): Promise<WalSession> {
    const session = new WalSession(wal)
    session.content = await wal.open({
      onDurable: (sequence) => session.#record(() => session.durable.push(sequence)),
      onFatal: (error) => session.#record(() => session.fatal.push(error)),
      onDiskFull: () => session.#record(() => session.diskFull++),
    })
    return session
  }

  append(parts: Partial<Omit<WalBatch, 'sequence'>>): number {
    const sequence = ++this.#sequence
    this.wal.append(batchOf(sequence, parts))
    return sequence
  }

  /** Resolves when the batch is durable or the log has failed. */
  async settled(sequence: number): Promise<void> {
    while (!this.durable.includes(sequence) && this.fatal.length === 0) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
  }

  #record(note: () => void): void {
    note()
    for (const resolve of this.#waiters.splice(0)) resolve()
  }
}

/** Opens the place again and returns the surviving content. */
async function reopened(place: WalPlace): Promise<object> {
  const session = await WalSession.open(place.wal())
  await session.wal.close()
  return plain(session.content as WalContent)
}

const voteInTerm2: HardState = { currentTerm: 2, votedFor: 'node-b' }

export function walContract(name: string, makePlace: () => WalPlace): void {
  t.test(`${name} keeps the contract of Wal`, async (t) => {
    t.test('an empty place opens as an empty log', async (t) => {
      const place = makePlace()
      const empty = {
        hardState: { currentTerm: 0, votedFor: null },
        base: { index: 0, term: 0 },
        entries: [],
      }
      t.same(await reopened(place), empty)
      t.same(await reopened(place), empty, 'also the second time')
    })

    t.test('answers once for each batch and in order, however many wait', async (t) => {
      const session = await WalSession.open(makePlace().wal())
      for (let index = 1; index <= 200; index++) session.append({ entries: [entry(index, 1)] })
      await session.wal.close()
      t.same(
        session.durable,
        Array.from({ length: 200 }, (_, position) => position + 1),
      )
      t.same(session.fatal, [])
    })

    t.test('answers a batch that holds nothing', async (t) => {
      const session = await WalSession.open(makePlace().wal())
      await session.settled(session.append({}))
      t.same(session.durable, [1])
      await session.wal.close()
    })

    t.test('returns exactly the acknowledged batches when it is opened again', async (t) => {
      const place = makePlace()
      const session = await WalSession.open(place.wal())
      session.append({
        hardState: { currentTerm: 1, votedFor: 'node-a' },
        entries: [entry(1, 1, ''), ...entries(2, 5)],
      })
      session.append({ hardState: voteInTerm2 })
      const configuration: Entry = {
        index: 6,
        term: 2,
        kind: 'configuration',
        data: new Uint8Array([0, 255, 128]),
      }
      await session.settled(session.append({ entries: [configuration] }))
      await session.wal.close()
      const expected = {
        hardState: voteInTerm2,
        base: { index: 0, term: 0 },
        entries: [entry(1, 1, ''), ...entries(2, 5), configuration],
      }
      t.same(await reopened(place), plain(expected))
    })

    t.test('a batch that begins at or below the last index replaces the tail', async (t) => {
      const place = makePlace()
      const session = await WalSession.open(place.wal())
      await session.settled(session.append({ entries: entries(1, 8) }))
      session.append({ entries: entries(9, 10) })
      session.append({ entries: entries(6, 7, 2) })
      session.append({ entries: entries(3, 3, 3) })
      session.append({ entries: entries(4, 5, 3) })
      await session.wal.close()
      const expected = {
        hardState: { currentTerm: 0, votedFor: null },
        base: { index: 0, term: 0 },
        entries: [...entries(1, 2), ...entries(3, 5, 3)],
      }
      t.same(await reopened(place), plain(expected))
    })

    t.test('a base voids everything before it, also batches that wait for the same flush', async (t) => {
      const place = makePlace()
      const session = await WalSession.open(place.wal())
      session.append({ hardState: { currentTerm: 3, votedFor: null }, entries: entries(1, 4) })
      session.append({ base: { index: 100, term: 3 }, entries: entries(101, 102, 3) })
      session.append({ entries: entries(103, 103, 3) })
      await session.wal.close()
      const expected = {
        hardState: { currentTerm: 3, votedFor: null },
        base: { index: 100, term: 3 },
        entries: entries(101, 103, 3),
      }
      t.same(await reopened(place), plain(expected))
    })

    t.test('a compaction moves the base and keeps the entries above it', async (t) => {
      const place = makePlace()
      const session = await WalSession.open(place.wal())
      session.append({ hardState: { currentTerm: 1, votedFor: null }, entries: entries(1, 9) })
      session.wal.compact({ index: 6, term: 1 })
      session.wal.compact({ index: 4, term: 1 })
      session.append({ entries: entries(10, 10) })
      await session.wal.close()
      const expected = {
        hardState: { currentTerm: 1, votedFor: null },
        base: { index: 6, term: 1 },
        entries: entries(7, 10),
      }
      t.same(await reopened(place), plain(expected))

      const again = await WalSession.open(place.wal())
      again.wal.compact({ index: 10, term: 1 })
      await again.wal.close()
      t.same(
        await reopened(place),
        plain({ ...expected, base: { index: 10, term: 1 }, entries: [] }),
        'and may empty the log',
      )
    })

    t.test('reads durable entries within the requested bounds', async (t) => {
      const session = await WalSession.open(makePlace().wal())
      session.append({ hardState: voteInTerm2, entries: entries(1, 40) })
      session.append({ entries: entries(31, 50, 2) })
      await session.settled(session.append({ entries: entries(51, 51, 2) }))
      const { wal } = session
      const read = (from: number, through: number, bytesMax = 1_000_000) =>
        wal.read({ from, through, bytesMax }).then((found) => found && plainEntries(found))
      t.same(await read(2, 35), plainEntries([...entries(2, 30), ...entries(31, 35, 2)]))
      t.same(await read(51, 99), plainEntries(entries(51, 51, 2)), 'missing entries are not waited for')
      t.same(await read(7, 99, 0), plainEntries(entries(7, 7)), 'one entry is read at any size')
      t.equal(await read(52, 99), null)
      await session.wal.close()
      t.same(session.fatal, [])
    })

    t.test('close is idempotent and acknowledges everything that was appended before', async (t) => {
      const session = await WalSession.open(makePlace().wal())
      session.append({ entries: entries(1, 3) })
      await Promise.all([session.wal.close(), session.wal.close()])
      await session.wal.close()
      t.same(session.durable, [1])
    })
  })
}

/** A place with entries 1 to 5 of term 1, with those at `indexes` damaged. */
async function damagedPlace(makePlace: () => DamagePlace, indexes: readonly number[]): Promise<WalPlace> {
  const place = makePlace()
  const session = await WalSession.open(place.wal())
  await session.settled(session.append({ hardState: voteInTerm2, entries: entries(1, 5) }))
  await session.wal.close()
  for (const index of indexes) place.damage(index)
  return place
}

interface RepairCase {
  readonly what: string
  readonly repair: WalRepair
  readonly base?: LogBase
  readonly left: readonly Entry[]
}

/** The repairs of a log with a hole at 3. */
const REPAIR_CASES: readonly RepairCase[] = [
  {
    what: 'the lost entry is given',
    repair: { committed: entries(3, 3) },
    left: entries(1, 5),
  },
  {
    what: 'another entry is given: nothing from there on was committed, and perhaps not the entry before it',
    repair: { committed: entries(3, 3, 2) },
    left: entries(1, 2),
  },
  {
    what: 'another entry is given with the one before it: it replaces the lost one',
    repair: { committed: [...entries(2, 2), ...entries(3, 3, 2)] },
    left: [...entries(1, 2), ...entries(3, 3, 2)],
  },
  {
    what: 'the state holds that entry: the following entries stay',
    repair: { base: { index: 3, term: 1 } },
    base: { index: 3, term: 1 },
    left: entries(4, 5),
  },
  {
    what: 'the state holds another entry there: the following entries were never committed',
    repair: { base: { index: 4, term: 2 } },
    base: { index: 4, term: 2 },
    left: [],
  },
  {
    what: 'the state is beyond the log',
    repair: { base: { index: 9, term: 2 } },
    base: { index: 9, term: 2 },
    left: [],
  },
]

export function walRepairContract(name: string, makePlace: () => DamagePlace): void {
  t.test(`${name} keeps the contract of Wal with holes`, async (t) => {
    t.test('a damaged entry is a hole, and neither it nor a later entry is forgotten', async (t) => {
      const place = await damagedPlace(makePlace, [3, 4])
      for (let start = 0; start < 2; start++) {
        const { content, wal } = await WalSession.open(place.wal())
        t.same(content?.hardState, voteInTerm2)
        t.same(content?.holes, [
          { index: 3, term: 1 },
          { index: 4, term: 1 },
        ])
        t.same(
          content?.entries.map(({ index, data }) => [index, data.byteLength > 0]),
          [1, 2, 3, 4, 5].map((index) => [index, index !== 3 && index !== 4]),
        )
        t.throws(() => wal.append(batchOf(1)), 'takes nothing before its repair')
        await wal.close()
      }
    })

    for (const { what, repair, base = { index: 0, term: 0 }, left } of REPAIR_CASES) {
      t.test(`repair leaves a valid log when ${what}`, async (t) => {
        const place = await damagedPlace(makePlace, [3])
        const session = await WalSession.open(place.wal())
        const expected = { hardState: voteInTerm2, base, entries: left }
        t.same(plain(await session.wal.repair(repair)), plain(expected))
        const next = (left.at(-1)?.index ?? base.index) + 1
        await session.settled(session.append({ entries: entries(next, next, 2) }))
        await session.wal.close()
        t.same(await reopened(place), plain({ ...expected, entries: [...left, ...entries(next, next, 2)] }))
      })
    }

    t.test('repair refuses entries that do not close every hole, and leaves the holes', async (t) => {
      const place = await damagedPlace(makePlace, [3, 4])
      const unfit: WalRepair[] = [
        { committed: entries(3, 3) },
        { base: { index: 3, term: 1 } },
        { committed: [entry(0, 1), ...entries(3, 4)] },
      ]
      for (const repair of unfit) {
        const session = await WalSession.open(place.wal())
        t.equal(session.content?.holes.length, 2)
        await t.rejects(session.wal.repair(repair), { message: /hole|base/ })
        await session.wal.close()
      }
    })
  })
}
