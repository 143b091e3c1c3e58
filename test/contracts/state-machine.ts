/**
 * What every StateMachine has to keep under the machine, whatever it stores.
 *
 * Owns: the guarantees of the StateMachine port in cluster/types.ts as tests. Knows nothing of: what commands mean.
 * Rule: a place gives a fresh state, and the same state again after a restart; its commands give replies that depend on
 * the commands before them, or nothing could be told from them.
 */
import type { Test } from 'tap'
import type { ApplyBatch, StateMachine } from '../../cluster/types.ts'
import { collected } from '../helpers/async.ts'

export interface StateMachinePlace {
  /** Another StateMachine over what earlier ones of this place left behind. The one before is closed. */
  machine(): StateMachine
  /** The i-th command of a fixed sequence. */
  command(i: number): Uint8Array
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** One entry with `count` commands from the i-th on; the record names the batch. */
function batchAt(place: StateMachinePlace, index: number, { count = 2 } = {}): ApplyBatch {
  const commands = Array.from({ length: count }, (_, i) => place.command(index * count + i))
  return { entries: [{ index, time: 1_000 + index, commands }], record: encoder.encode(`record ${index}`) }
}

function plain(replies: readonly (readonly Uint8Array[])[]): string[][] {
  return replies.map((entry) => entry.map((reply) => Buffer.from(reply).toString('hex')))
}

function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : decoder.decode(bytes)
}

async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 100) yield bytes.subarray(start, start + 100)
}

async function cutOf(machine: StateMachine): Promise<{ record: string | null; bytes: Buffer }> {
  const snapshot = await machine.snapshot()
  const bytes = Buffer.concat(await collected(snapshot.stream))
  await snapshot.release()
  return { record: textOf(snapshot.record), bytes }
}

export function stateMachineContract(t: Test, makePlace: (t: Test) => Promise<StateMachinePlace>): void {
  const opened = async (t: Test, place: StateMachinePlace): Promise<StateMachine> => {
    const machine = place.machine()
    await machine.open()
    t.teardown(() => machine.close())
    return machine
  }

  t.test('begins without a record and gives the last one after a restart', async (t) => {
    const place = await makePlace(t)
    const first = place.machine()
    t.equal(await first.open(), null)
    for (const index of [1, 2, 3]) await first.apply(batchAt(place, index))
    await first.close()
    const second = place.machine()
    t.teardown(() => second.close())
    t.equal(textOf(await second.open()), 'record 3')
  })

  t.test('answers each command in order, and a batch without entries moves the record alone', async (t) => {
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
    t.strictSame(await machine.apply({ entries: [], record: encoder.encode('moved') }), [])
    t.equal((await cutOf(machine)).record, 'moved')
  })

  t.test('gives the same replies for the same entries, however they are batched', async (t) => {
    const [place, other] = [await makePlace(t), await makePlace(t)]
    const [one, two] = [await opened(t, place), await opened(t, other)]
    const batches = [1, 2, 3, 4].map((index) => batchAt(place, index))
    const single: string[][] = []
    for (const batch of batches) single.push(...plain(await one.apply(batch)))
    const entries = batches.flatMap((batch) => batch.entries)
    t.strictSame(plain(await two.apply({ entries, record: encoder.encode('record 4') })), single)
  })

  t.test('carries everything over in a snapshot, which later batches do not change', async (t) => {
    const [place, other] = [await makePlace(t), await makePlace(t)]
    const [source, target] = [await opened(t, place), await opened(t, other)]
    await source.apply(batchAt(place, 1))
    await target.apply(batchAt(other, 7))
    const snapshot = await source.snapshot()
    const stream = snapshot.stream[Symbol.asyncIterator]()
    const head = await stream.next()
    // With a period of five or less the commands of batch 6 meet those of batch 1 again.
    const next = plain(await source.apply(batchAt(place, 6)))
    const rest = await collected({ [Symbol.asyncIterator]: () => stream })
    await snapshot.release()
    t.equal(textOf(snapshot.record), 'record 1')
    const bytes = Buffer.concat([...(head.done ? [] : [head.value]), ...rest])
    t.equal(textOf(await target.install(streamOf(bytes))), 'record 1')
    t.strictSame(
      plain(await target.apply(batchAt(other, 6))),
      next,
      'goes on exactly where the source was cut',
    )
    await target.close()
    t.equal(textOf(await (await reopened(t, other)).open()), 'record 6', 'and is still there after a restart')
  })

  t.test(
    'refuses a snapshot that is cut short, damaged or breaks off, and keeps the old state',
    async (t) => {
      const [place, other] = [await makePlace(t), await makePlace(t)]
      const [source, target] = [await opened(t, place), await opened(t, other)]
      await source.apply(batchAt(place, 1))
      await target.apply(batchAt(other, 2))
      const { bytes } = await cutOf(source)
      const flipped = Buffer.from(bytes)
      const middle = flipped.length >> 1
      flipped.writeUInt8(flipped.readUInt8(middle) ^ 1, middle)
      const breaking = async function* (): AsyncGenerator<Uint8Array> {
        yield bytes.subarray(0, middle)
        throw new Error('the sender is gone')
      }
      await t.rejects(target.install(streamOf(bytes.subarray(0, bytes.length - 1))))
      await t.rejects(target.install(streamOf(flipped)))
      await t.rejects(target.install(breaking()))
      t.equal((await cutOf(target)).record, 'record 2')
      t.equal(textOf(await target.install(streamOf(bytes))), 'record 1', 'and takes a whole one after that')
    },
  )
}

async function reopened(t: Test, place: StateMachinePlace): Promise<StateMachine> {
  const machine = place.machine()
  t.teardown(() => machine.close())
  return machine
}
