/**
 * What every StateMachine guarantees to the machine, for any stored contents.
 *
 * Owns: the guarantees of the StateMachine port in cluster/base/types.ts as tests. Knows nothing of: what commands mean.
 * Rule: a place gives a fresh state, and the same state again after a restart; its commands give replies that depend on
 * the commands before them, or they would prove nothing. Snapshots and installs: state-installs.ts.
 */
import type { Test } from 'tap'
import {
  EntryFailedError,
  StateDamagedError,
  type ApplyBatch,
  type StateMachine,
} from '../../cluster/base/types.ts'
import { timesAt } from '../helpers/entry-time.ts'

export interface MachineOptions {
  /** Called after each durable step of an install. */
  readonly onInstallStep?: (step: string) => void
}

export interface StateMachinePlace {
  /** Another StateMachine over the data of this place. The previous one is closed, or never runs again. */
  machine(options?: MachineOptions): StateMachine
  /** The place that a power cut now would leave. */
  cut(): StateMachinePlace
  /** Damages a stored row under the running machine. */
  damage(machine: StateMachine): Promise<void>
  /** The i-th command of a fixed sequence. */
  command(i: number): Uint8Array
  /** Makes a row of about a third of a block. Those of one entry give the same rows in any order. */
  filling(i: number): Uint8Array
  /** Adds rows beside the i-th filling, and perhaps changes it. */
  change(i: number): Uint8Array
  /** A command that no version knows: its apply throws. */
  failing(): Uint8Array
  /** Reverts the i-th change: the rows are as before. */
  undo(i: number): Uint8Array
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** One entry; the record names the index. */
export function batchOf(index: number, commands: readonly Uint8Array[]): ApplyBatch {
  return {
    entries: [{ index, ...timesAt(1_000 + index), featureLevel: 1, commands }],
    record: encoder.encode(`record ${index}`),
  }
}

/** One entry with `count` commands from the i-th on. */
export function batchAt(place: StateMachinePlace, index: number, { count = 2 } = {}): ApplyBatch {
  return batchOf(
    index,
    Array.from({ length: count }, (_, i) => place.command(index * count + i)),
  )
}

export function fillings(place: StateMachinePlace, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => place.filling(i))
}

export function plain(replies: readonly (readonly Uint8Array[])[]): string[][] {
  return replies.map((entry) => entry.map((reply) => Buffer.from(reply).toString('hex')))
}

export function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : decoder.decode(bytes)
}

export function sumOf(machine: StateMachine): string {
  return Buffer.from(machine.checksum()).toString('hex')
}

async function meetsDamage(work: Promise<unknown>): Promise<boolean> {
  return await work.then(
    () => false,
    (error: unknown) => error instanceof StateDamagedError,
  )
}

/** A machine without a fault. */
export async function opened(
  t: Test,
  place: StateMachinePlace,
  options: MachineOptions = {},
): Promise<StateMachine> {
  const machine = place.machine(options)
  t.teardown(() => machine.close())
  const { fault } = await machine.open()
  if (fault !== null) throw new Error(`the state has a fault: ${fault}`)
  return machine
}

export function stateMachineContract(t: Test, makePlace: (t: Test) => Promise<StateMachinePlace>): void {
  t.test('apply', (t) => applyContract(t, makePlace))
  t.test('checksum', (t) => checksumContract(t, makePlace))
  t.test('damage', (t) => damageContract(t, makePlace))
}

async function applyContract(t: Test, makePlace: (t: Test) => Promise<StateMachinePlace>): Promise<void> {
  t.test('begins without a record and gives the last one after a restart', async (t) => {
    const place = await makePlace(t)
    const first = place.machine()
    t.strictSame(await first.open(), { record: null, fault: null, isInstalled: false })
    await first.close()
    const second = place.machine()
    t.strictSame(
      await second.open(),
      { record: null, fault: null, isInstalled: false },
      'also after a close before any batch',
    )
    for (const index of [1, 2, 3]) await second.apply(batchAt(place, index))
    await second.close()
    const third = place.machine()
    t.teardown(() => third.close())
    const { record, fault } = await third.open()
    t.strictSame([textOf(record), fault], ['record 3', null])
  })

  t.test('leaves record, rows and checksum of the same batch after a power cut', async (t) => {
    const place = await makePlace(t)
    let machine = await opened(t, place)
    for (const index of [1, 2, 3, 4]) {
      await machine.apply(batchAt(place, index))
      const after = place.cut().machine()
      t.teardown(() => after.close())
      const { record, fault } = await after.open()
      t.strictSame([textOf(record), fault], [`record ${index}`, null])
      t.equal(sumOf(after), sumOf(machine))
      if (index !== 2) continue
      // The batches that follow come after a clean stop, so the mark of that stop must not cover them.
      await machine.close()
      machine = await opened(t, place)
    }
  })

  t.test('answers each command in order, and a batch without entries moves only the record', async (t) => {
    const place = await makePlace(t)
    const machine = await opened(t, place)
    const replies = await machine.apply({
      entries: [...batchAt(place, 1).entries, ...batchAt(place, 2, { count: 3 }).entries],
      record: encoder.encode('both'),
    })
    t.strictSame(
      replies.map(({ length }) => length),
      [2, 3],
    )
    const sum = sumOf(machine)
    t.strictSame(await machine.apply({ entries: [], record: encoder.encode('moved') }), [])
    t.equal(sumOf(machine), sum)
    const cut = await machine.snapshot()
    t.equal(textOf(cut.record), 'moved')
    await cut.release()
  })

  t.test('names the entry that it cannot apply, and discards its batch', async (t) => {
    const place = await makePlace(t)
    const machine = await opened(t, place)
    await machine.apply(batchAt(place, 1))
    const sum = sumOf(machine)
    const failing = batchOf(3, [place.command(0), place.failing()])
    const entries = [...batchAt(place, 2).entries, ...failing.entries, ...batchAt(place, 4).entries]
    const error = await machine
      .apply({ entries, record: encoder.encode('record 4') })
      .catch((e: unknown) => e)
    t.ok(error instanceof EntryFailedError && error.index === 3, String(error))
    t.equal(sumOf(machine), sum)
    const other = await opened(t, await makePlace(t))
    await other.apply(batchAt(place, 1))
    const [one, two] = [await machine.apply(batchAt(place, 2)), await other.apply(batchAt(place, 2))]
    t.strictSame(plain(one), plain(two), 'later commands are decided as if the batch had never been')
    t.equal(sumOf(machine), sumOf(other))
  })

  t.test('gives the same replies for the same entries, however they are batched', async (t) => {
    const [place, other] = [await makePlace(t), await makePlace(t)]
    const [one, two] = [await opened(t, place), await opened(t, other)]
    const batches = [1, 2, 3, 4].map((index) => batchAt(place, index))
    const single: string[][] = []
    for (const batch of batches) single.push(...plain(await one.apply(batch)))
    const entries = batches.flatMap((batch) => batch.entries)
    t.strictSame(plain(await two.apply({ entries, record: encoder.encode('record 4') })), single)
    t.equal(sumOf(one), sumOf(two))
  })
}

async function checksumContract(t: Test, makePlace: (t: Test) => Promise<StateMachinePlace>): Promise<void> {
  t.test('is equal for equal rows, after any order, batches and detours', async (t) => {
    const [place, other] = [await makePlace(t), await makePlace(t)]
    const [one, two] = [await opened(t, place), await opened(t, other)]
    await one.apply(batchOf(1, fillings(place, 4)))
    await one.apply(batchOf(5, []))
    await two.apply(batchOf(1, fillings(other, 4).toReversed()))
    await two.apply(batchOf(2, [other.change(1), other.change(2)]))
    t.not(sumOf(one), sumOf(two))
    await two.apply(batchOf(3, [other.undo(2)]))
    await two.apply(batchOf(5, [other.undo(1), other.change(0), other.undo(0)]))
    t.equal(sumOf(one), sumOf(two))
  })

  t.test('changes with every row, and never comes back before the rows do', async (t) => {
    const place = await makePlace(t)
    const machine = await opened(t, place)
    const sums = [sumOf(machine)]
    const commands = [...fillings(place, 4), place.change(0), place.change(3), place.undo(0)]
    for (const [i, command] of commands.entries()) {
      await machine.apply(batchOf(i + 1, [command]))
      sums.push(sumOf(machine))
    }
    t.equal(new Set(sums).size, sums.length)
    t.equal(machine.checksum().length, 32)
  })

  t.test('is the same after a restart, clean or not, and agrees with every row', async (t) => {
    const place = await makePlace(t)
    const machine = await opened(t, place)
    await machine.apply(batchOf(1, fillings(place, 4)))
    await machine.apply(batchOf(2, [place.change(1)]))
    const sum = sumOf(machine)
    const afterCut = await opened(t, place.cut())
    t.equal(sumOf(afterCut), sum)
    t.equal(await afterCut.verify(), null)
    await machine.close()
    const afterStop = await opened(t, place)
    t.equal(sumOf(afterStop), sum)
    t.equal(await afterStop.verify(), null)
    await afterStop.apply(batchOf(3, [place.undo(1)]))
    t.equal(await afterStop.verify(), null)
  })

  t.test('agrees with every row while batches are applied', async (t) => {
    const place = await makePlace(t)
    const machine = await opened(t, place)
    await machine.apply(batchOf(1, fillings(place, 6)))
    for (let index = 2; index < 8; index++) {
      const verified = machine.verify()
      await machine.apply(batchOf(index, [index % 2 === 0 ? place.change(1) : place.undo(1)]))
      t.equal(await verified, null)
    }
  })
}

async function damageContract(t: Test, makePlace: (t: Test) => Promise<StateMachinePlace>): Promise<void> {
  t.test('of a row is never sent in a block', async (t) => {
    const place = await makePlace(t)
    const machine = await opened(t, place)
    await machine.apply(batchOf(1, fillings(place, 4)))
    const cut = await machine.snapshot()
    await place.damage(machine)
    const late = await machine.snapshot()
    t.ok(await meetsDamage(late.block({ after: new Uint8Array(), held: null })))
    await Promise.all([cut.release(), late.release()])
  })

  t.test(
    'is reported once, before its reader gets the error, and nothing is used until an install',
    async (t) => {
      const [place, other] = [await makePlace(t), await makePlace(t)]
      const [machine, source] = [place.machine(), await opened(t, other)]
      t.teardown(() => machine.close())
      const reported: string[] = []
      await machine.open((error) => reported.push(error.name))
      await machine.apply(batchOf(1, fillings(place, 4)))
      await source.apply(batchOf(1, fillings(other, 4)))
      for (let round = 1; round <= 2; round++) {
        await place.damage(machine)
        const cut = await machine.snapshot()
        const meets = cut.block({ after: new Uint8Array(), held: null }).catch((error: unknown) => {
          t.equal(reported.length, round)
          throw error
        })
        t.ok(await meetsDamage(meets))
        t.ok(await meetsDamage(machine.apply(batchOf(1 + round, [place.change(0)]))))
        t.ok(await meetsDamage(machine.snapshot()))
        t.ok(await meetsDamage(machine.verify()))
        await machine.quarantine('so that a restart knows')
        t.equal(reported.length, round, 'not by later readers')
        await cut.release()
        const whole = await source.snapshot()
        t.equal(textOf(await machine.install(whole)), 'record 1')
        await whole.release()
        t.equal(sumOf(machine), sumOf(source))
        t.equal(await machine.verify(), null)
        const after = place.cut().machine()
        t.match(await after.open(), { fault: null }, 'the mark is removed')
        await after.close()
      }
      await machine.apply(batchOf(2, [place.change(0)]))
    },
  )

  t.test('of a row is found by verify, and by the next start after an unclean stop', async (t) => {
    const place = await makePlace(t)
    const machine = await opened(t, place)
    await machine.apply(batchOf(1, fillings(place, 4)))
    await place.damage(machine)
    const after = place.cut().machine()
    t.teardown(() => after.close())
    const { record, fault } = await after.open()
    t.equal(record, null)
    t.type(fault, 'string')
    t.type(await machine.verify(), 'string')
  })

  t.test('that was reported stays a fault over every restart, until an install', async (t) => {
    const [place, other] = [await makePlace(t), await makePlace(t)]
    const [machine, source] = [await opened(t, place), await opened(t, other)]
    await machine.apply(batchOf(1, fillings(place, 2)))
    await source.apply(batchOf(1, fillings(other, 4)))
    await machine.quarantine('the others have another checksum')
    t.ok(await meetsDamage(machine.apply(batchOf(2, [place.change(0)]))))
    const cut = await source.snapshot()
    for (const next of [place.cut(), place]) {
      if (next === place) await machine.close()
      const first = next.machine()
      t.strictSame(await first.open(), { record: null, fault: 'the others have another checksum' })
      await first.close()
      const second = next.machine()
      t.match(
        await second.open(),
        { fault: 'the others have another checksum' },
        'a clean stop does not end it',
      )
      t.equal(textOf(await second.install(cut)), 'record 1')
      t.equal(sumOf(second), sumOf(source))
      await second.apply(batchOf(2, [place.change(0)]))
      await second.close()
      const third = await opened(t, next)
      t.equal(await third.verify(), null)
    }
    await cut.release()
  })
}
