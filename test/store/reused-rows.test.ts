/**
 * An install over a state that is nearly the same transfers only changed rows, and verifies the rows that it reuses.
 */
import t from 'tap'
import type { StateBlockRequest, StateSource } from '../../cluster/index.ts'
import { put } from '../state-machine/map-world.ts'
import { keyBytes } from '../../src/store/rows/row-codec.ts'
import { StoreWorld, type Teardown } from './store-world.ts'
import { putRow } from '../helpers/database-rows.ts'

const OBJECTS = 2_000
const BODY_BYTES = 1_000

const name = (i: number): string => `k${String(i).padStart(5, '0')}`
const inline = (key: string, fill: string) =>
  put(
    key,
    { kind: 'inline', chunkId: `c-${key}-${fill}`, sealed: Buffer.alloc(BODY_BYTES, fill) },
    BODY_BYTES,
  )

async function filled(t: Teardown): Promise<StoreWorld> {
  const world = await StoreWorld.withBucket(t)
  for (let i = 0; i < OBJECTS; i += 200)
    await world.apply(Array.from({ length: 200 }, (_, j) => inline(name(i + j), 'a')))
  return world
}

/** Counts the requests that a peer of an older build would answer. */
function counted(cut: StateSource): {
  readonly source: StateSource
  readonly moved: { bytes: number; calls: number }
} {
  const moved = { bytes: 0, calls: 0 }
  const block = async ({ after, held }: StateBlockRequest) => {
    const plain = held && { through: held.through, digest: held.digest }
    const answer = await cut.block({ after, held: plain })
    moved.calls += 1
    moved.bytes += answer.rows?.length ?? 0
    return answer
  }
  return { source: { record: cut.record, checksum: cut.checksum, block }, moved }
}

async function twins(
  t: Teardown,
): Promise<{ readonly ahead: StoreWorld; readonly behind: StoreWorld; readonly whole: number }> {
  const ahead = await filled(t)
  const behind = await StoreWorld.withBucket(t)
  const cut = await ahead.store.stateMachine.snapshot()
  const { source, moved } = counted(cut)
  await behind.store.stateMachine.install(source)
  await cut.release()
  return { ahead, behind, whole: moved.bytes }
}

async function installed({ ahead, behind }: { readonly ahead: StoreWorld; readonly behind: StoreWorld }) {
  const cut = await ahead.store.stateMachine.snapshot()
  const { source, moved } = counted(cut)
  await behind.store.stateMachine.install(source)
  const isSame = Buffer.compare(behind.store.stateMachine.checksum(), cut.checksum) === 0
  const fault = await behind.store.stateMachine.verify()
  await cut.release()
  return { moved, isSame, fault }
}

t.test('transfers nothing when nothing has changed', async (t) => {
  const { whole, ...worlds } = await twins(t)
  const { moved, isSame, fault } = await installed(worlds)
  t.ok(whole > OBJECTS * BODY_BYTES)
  t.equal(moved.bytes, 0)
  t.ok(moved.calls < 100, `${moved.calls} calls`)
  t.ok(isSame)
  t.equal(fault, null)
})

t.test(
  'transfers about as much as has changed, at any place: rows replaced, added and removed',
  async (t) => {
    const { whole, ...worlds } = await twins(t)
    const changed = [3, 700, 701, 1_300, 1_999]
    await worlds.ahead.apply(changed.map((i) => inline(name(i), 'b')))
    await worlds.ahead.apply([
      inline('a-first', 'c'),
      inline(`${name(900)}-between`, 'c'),
      inline('z-last', 'c'),
    ])
    const { moved, isSame, fault } = await installed(worlds)
    t.ok(moved.bytes < whole / 4, `${moved.bytes} of ${whole} bytes`)
    t.ok(isSame)
    t.equal(fault, null)
  },
)

t.test('an insertion in front of everything moves no boundary behind it', async (t) => {
  const { whole, ...worlds } = await twins(t)
  await worlds.ahead.apply([inline('a-first', 'c')])
  const { moved, isSame } = await installed(worlds)
  t.ok(moved.bytes < whole / 6, `${moved.bytes} of ${whole} bytes`)
  t.ok(isSame)
})

t.test('a row that went bad here is not reused, and the install continues', async (t) => {
  const { ahead, behind } = await twins(t)
  const { db } = behind.store.stateMachine.handle.current
  const [key = Buffer.alloc(0)] = await db.keys({ gte: keyBytes('c'), limit: 1 }).all()
  const value = Buffer.from(db.getSync(key) ?? Buffer.alloc(0))
  value.writeUInt8(value.readUInt8(value.length - 1) ^ 1, value.length - 1)
  await putRow(db, key, value)
  const { isSame, fault } = await installed({ ahead, behind })
  t.ok(isSame)
  t.equal(fault, null)
})

t.test('an install that is cut off keeps its gathered rows, reused rows included', async (t) => {
  const { ahead, behind, whole } = await twins(t)
  await ahead.apply([inline('z-last', 'c')])
  const cut = await ahead.store.stateMachine.snapshot()
  let calls = 0
  const breaking: StateSource = {
    ...cut,
    block: async (request) => {
      calls += 1
      if (calls === 40) throw new Error('the source hung up')
      return cut.block(request)
    },
  }
  await t.rejects(behind.store.stateMachine.install(breaking), /hung up/)
  const { source, moved } = counted(cut)
  await behind.store.stateMachine.install(source)
  t.ok(moved.bytes < whole / 4, `${moved.bytes} of ${whole} bytes`)
  t.same(behind.store.stateMachine.checksum(), cut.checksum)
  await cut.release()
})

t.test('a source that calls other rows the same is detected by the sum of all rows', async (t) => {
  const { ahead, behind } = await twins(t)
  const before = Buffer.from(behind.store.stateMachine.checksum())
  await ahead.apply([inline(name(1_000), 'b')])
  const cut = await ahead.store.stateMachine.snapshot()
  const lying: StateSource = {
    ...cut,
    block: async (request) => {
      const block = await cut.block(request)
      const { held } = request
      return held === null ? block : { ...block, rows: null, digest: held.digest, through: held.through }
    },
  }
  await t.rejects(behind.store.stateMachine.install(lying), /do not add up/)
  t.same(behind.store.stateMachine.checksum(), before)
  await cut.release()
})
