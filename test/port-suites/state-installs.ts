/**
 * What every StateMachine guarantees when a state is transferred: cuts, blocks and installs.
 *
 * Owns: the part of the port's guarantees about StateCut, StateSource and `install`. Knows nothing of: rows.
 * Rule: after any refusal or interruption the old state stays until the new one is complete, and no row is sent twice.
 */
import assert from 'node:assert/strict'
import type { Test } from 'tap'
import { rowsOf } from '../../src/store/rows/row-block.ts'
import { STATE_BLOCK_BYTES_MAX, type StateBlock } from '../../cluster/base/types.ts'
import { batchOf, fillings, opened, plain, type StateMachinePlace, sumOf, textOf } from './state-machine.ts'
import { blocksOf, breakingAfter, FILLINGS, filledSource, hex, START, Wire } from './state-sources.ts'

type MakePlace = (t: Test) => Promise<StateMachinePlace>

export function stateInstallContract(t: Test, makePlace: MakePlace): void {
  t.test('cut', (t) => cutContract(t, makePlace))
  t.test('install', (t) => installContract(t, makePlace))
  t.test('refusal', (t) => refusalContract(t, makePlace))
  t.test('resumption', (t) => resumptionContract(t, makePlace))
  t.test('growth', (t) => grownContract(t, makePlace))
}

async function cutContract(t: Test, makePlace: MakePlace): Promise<void> {
  t.test('is refused when nothing was ever applied', async (t) => {
    const machine = await opened(t, await makePlace(t))
    await t.rejects(machine.snapshot())
  })

  t.test('gives every row once, in order, in bounded blocks', async (t) => {
    const { machine } = await filledSource(t, makePlace)
    const cut = await machine.snapshot()
    const blocks = await blocksOf(cut)
    t.ok(blocks.length >= 3, `${blocks.length} blocks`)
    let last: Uint8Array = START
    for (const { rows, through } of blocks) {
      assert(rows !== null)
      t.ok(rows.length <= STATE_BLOCK_BYTES_MAX)
      for (const { key } of rowsOf(rows)) {
        assert(Buffer.compare(key, last) > 0, 'rows ascend')
        last = key
      }
      t.equal(hex(last), hex(through), 'a block covers exactly its rows')
    }
    t.equal(hex(cut.checksum), sumOf(machine))
    await cut.release()
    await cut.release()
  })

  t.test('is unchanged while batches are applied, and beside other cuts', async (t) => {
    const { place, machine } = await filledSource(t, makePlace)
    const cut = await machine.snapshot()
    const before = await blocksOf(cut)
    await machine.apply(batchOf(2, [place.change(0), place.change(4)]))
    const other = await machine.snapshot()
    await machine.apply(batchOf(3, [place.undo(4), place.change(7)]))
    t.strictSame(await blocksOf(cut), before)
    t.equal(textOf(cut.record), 'record 1')
    t.equal(textOf(other.record), 'record 2')
    t.not(hex(other.checksum), hex(cut.checksum))
    await cut.release()
    t.not((await blocksOf(other)).length, 0, 'a cut is not released by another')
    await other.release()
  })

  t.test('sends no rows for an equal range, and the rows of a different one', async (t) => {
    const { place, machine } = await filledSource(t, makePlace)
    const cut = await machine.snapshot()
    const blocks = await blocksOf(cut)
    await machine.apply(batchOf(2, [place.change(0)]))
    const late = await machine.snapshot()
    let [after, same, other]: [Uint8Array, number, number] = [START, 0, 0]
    for (const { through, digest, isEnd } of blocks) {
      const held = { through, digest }
      t.match(await cut.block({ after, held }), { rows: null, isEnd })
      const { rows } = await late.block({ after, held })
      if (rows === null) same += 1
      else other += 1
      after = through
    }
    t.ok(same > 0 && other > 0 && other <= 2, `${same} the same, ${other} not`)
    await Promise.all([cut.release(), late.release()])
  })
}

async function installContract(t: Test, makePlace: MakePlace): Promise<void> {
  t.test('transfers everything over any earlier state, and continues where the source was cut', async (t) => {
    const source = await filledSource(t, makePlace)
    const cut = await source.machine.snapshot()
    const next = batchOf(6, [source.place.command(3), source.place.command(3), source.place.change(2)])
    const replies = plain(await source.machine.apply(next))
    for (const earlier of ['nothing', 'other rows', 'a later cut of the same'] as const) {
      const place = await makePlace(t)
      const machine = await opened(t, place)
      if (earlier === 'other rows') await machine.apply(batchOf(1, [place.command(0), place.command(2)]))
      if (earlier === 'a later cut of the same') {
        const late = await source.machine.snapshot()
        await machine.install(late)
        await late.release()
      }
      t.equal(textOf(await machine.install(cut)), 'record 1')
      t.equal(sumOf(machine), hex(cut.checksum))
      t.equal(await machine.verify(), null)
      const again = await machine.snapshot()
      t.strictSame(await blocksOf(again), await blocksOf(cut), `over ${earlier}`)
      await again.release()
      t.strictSame(plain(await machine.apply(next)), replies)
      t.equal(sumOf(machine), sumOf(source.machine))
      await machine.close()
      t.equal(sumOf(await opened(t, place)), sumOf(source.machine), 'and is still present after a restart')
    }
    await cut.release()
  })

  t.test('is distinguished from a state with applied batches, over restarts', async (t) => {
    const source = await filledSource(t, makePlace)
    const cut = await source.machine.snapshot()
    const place = await makePlace(t)
    const first = await opened(t, place)
    await first.install(cut)
    await first.close()
    const second = place.machine()
    t.match(await second.open(), { isInstalled: true })
    await second.apply(batchOf(6, [place.command(3)]))
    await second.close()
    const third = place.machine()
    t.teardown(() => third.close())
    t.match(await third.open(), { isInstalled: false })
    await cut.release()
  })

  t.test('of a state without rows leaves none', async (t) => {
    const [place, other] = [await makePlace(t), await makePlace(t)]
    const [source, machine] = [await opened(t, place), await opened(t, other)]
    await source.apply({ entries: [], record: Buffer.from('only a record') })
    await machine.apply(batchOf(1, fillings(other, 2)))
    const cut = await source.snapshot()
    t.equal(textOf(await machine.install(cut)), 'only a record')
    t.equal(sumOf(machine), sumOf(source))
    t.equal(await machine.verify(), null)
    await cut.release()
  })
}

async function refusalContract(t: Test, makePlace: MakePlace): Promise<void> {
  /** Byte `at` of the rows, one bit changed. */
  const flipped = (block: StateBlock, at: number): StateBlock => {
    const rows = Buffer.from(block.rows ?? START)
    rows[at] = (rows[at] ?? 0) ^ 1
    return { ...block, rows }
  }
  const lies: Record<string, (block: StateBlock) => StateBlock> = {
    'a flipped bit in a length': (block) => flipped(block, 0),
    'a flipped bit in a key': (block) => flipped(block, 5),
    'a flipped bit in a value': (block) => flipped(block, (block.rows?.length ?? 0) - 1),
    'the digest of other rows': (block) => ({ ...block, digest: Buffer.alloc(32) }),
    'rows cut short': (block) => ({ ...block, rows: block.rows?.subarray(0, -1) ?? null }),
    'no rows where none are held': (block) => ({ ...block, rows: null }),
    'an end before its last row': (block) => ({ ...block, through: Buffer.of(1) }),
    'no step forward': (block) => ({ ...block, through: START, isEnd: false }),
  }

  t.test('of a false block leaves the old state, and a correct source is accepted after it', async (t) => {
    const source = await filledSource(t, makePlace)
    const cut = await source.machine.snapshot()
    const count = (await blocksOf(cut)).length
    const place = await makePlace(t)
    const machine = await opened(t, place)
    await machine.apply(batchOf(2, [place.command(0)]))
    const before = sumOf(machine)
    const twin = await opened(t, await makePlace(t))
    await twin.apply(batchOf(2, [place.command(0)]))
    const small = await twin.snapshot()
    for (const [what, lie] of Object.entries(lies)) {
      for (let at = 0; at < count; at++) {
        let isReported = false
        // Rows present here may be found equal; only transferred rows can be wrong.
        const wire = new Wire(cut, (block) => {
          if (isReported || wire.asked.length <= at || (block.rows?.length ?? 0) === 0) return block
          isReported = true
          return lie(block)
        })
        await t.rejects(machine.install(wire), `${what} in block ${at}`)
        if (sumOf(machine) !== before) t.fail(`${what} in block ${at} changed the state`)
      }
      // Otherwise all but the last block would be held when the next false block arrives.
      await machine.install(small)
      t.equal(sumOf(machine), before)
    }
    t.equal(textOf(await machine.install(cut)), 'record 1')
    await Promise.all([cut.release(), small.release()])
  })

  t.test('of a checksum that is not the sum of the rows leaves the old state', async (t) => {
    const source = await filledSource(t, makePlace)
    const cut = await source.machine.snapshot()
    const place = await makePlace(t)
    const machine = await opened(t, place)
    await machine.apply(batchOf(2, [place.command(0)]))
    const before = sumOf(machine)
    await t.rejects(
      machine.install({
        record: cut.record,
        checksum: Buffer.alloc(32, 7),
        block: (request) => cut.block(request),
      }),
    )
    t.equal(sumOf(machine), before)
    await machine.apply(batchOf(3, [place.command(2)]))
    t.equal(textOf(await machine.install(cut)), 'record 1')
    t.equal(await machine.verify(), null)
    await cut.release()
  })

  t.test('passes on the error of the source and never runs during an apply', async (t) => {
    const source = await filledSource(t, makePlace)
    const cut = await source.machine.snapshot()
    const place = await makePlace(t)
    const machine = await opened(t, place)
    await t.rejects(machine.install(breakingAfter(cut, 1)), /the source is gone/)
    const install = machine.install(cut)
    await t.rejects(machine.apply(batchOf(2, [place.command(0)])), /one at a time/)
    await install
    await cut.release()
  })
}

async function resumptionContract(t: Test, makePlace: MakePlace): Promise<void> {
  t.test('pulls no block twice, wherever the source breaks, also over restarts', async (t) => {
    const source = await filledSource(t, makePlace)
    const cut = await source.machine.snapshot()
    const count = (await blocksOf(cut)).length
    for (const isRestarted of [false, true]) {
      const place = await makePlace(t)
      let machine = await opened(t, place)
      let carried = 0
      for (let given = 0; given < count; given++) {
        const wire = breakingAfter(cut, given)
        await t.rejects(machine.install(wire), /the source is gone/)
        carried += wire.carried
        t.equal(wire.asked.length, given + 1)
        if (!isRestarted) continue
        await machine.close()
        machine = await opened(t, place)
      }
      const wire = new Wire(cut)
      t.equal(textOf(await machine.install(wire)), 'record 1')
      t.equal(carried + wire.carried, count, 'each block carried its rows once')
      t.equal(await machine.verify(), null)
    }
    await cut.release()
  })

  t.test(
    'pulls from another cut only blocks that differ, and drops rows that it no longer has',
    async (t) => {
      const source = await filledSource(t, makePlace)
      await source.machine.apply(batchOf(2, [source.place.change(0), source.place.change(3)]))
      const old = await source.machine.snapshot()
      const count = (await blocksOf(old)).length
      await source.machine.apply(batchOf(3, [source.place.undo(0), source.place.change(7)]))
      const late = await source.machine.snapshot()
      for (let given = 1; given <= count; given++) {
        const machine = await opened(t, await makePlace(t))
        const whole = { ...old, checksum: Buffer.alloc(32), block: old.block.bind(old), record: old.record }
        const first = given < count ? breakingAfter(old, given) : new Wire(whole)
        await t.rejects(machine.install(first))
        const wire = new Wire(late)
        t.equal(textOf(await machine.install(wire)), 'record 3')
        t.equal(sumOf(machine), hex(late.checksum))
        t.equal(await machine.verify(), null)
        if (given === count) t.ok(wire.carried < count, `${wire.carried} of ${count} blocks carried rows`)
        const again = await machine.snapshot()
        t.strictSame(await blocksOf(again), await blocksOf(late))
        await again.release()
      }
      await Promise.all([old.release(), late.release()])
    },
  )
}

async function grownContract(t: Test, makePlace: MakePlace): Promise<void> {
  t.test('pulls only the new block of a range that grew beyond one block', async (t) => {
    const place = await makePlace(t)
    const source = await opened(t, place)
    await source.apply(batchOf(1, fillings(place, FILLINGS).slice(1)))
    const old = await source.snapshot()
    const count = (await blocksOf(old)).length
    await source.apply(batchOf(2, [place.filling(0)]))
    const late = await source.snapshot()
    const machine = await opened(t, await makePlace(t))
    await t.rejects(machine.install(breakingAfter(old, count - 1)), /the source is gone/)
    const wire = new Wire(late)
    await machine.install(wire)
    t.equal(sumOf(machine), hex(late.checksum))
    t.equal(wire.carried, 2, 'the first block, and the last, which never came')
    await Promise.all([old.release(), late.release()])
  })
}
