/**
 * Switching between copies: right bytes or an error, never wrong bytes, and no copy is reported without proof.
 */
import fc from 'fast-check'
import t from 'tap'
import { CHUNK_BYTES } from '../../src/content/chunk-slots.ts'
import { FRAME_BYTES } from '../../src/content/frame-cipher.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { ContentWorld, patternBytes } from '../helpers/content-world.ts'

const SEALED_FRAME = FRAME_BYTES + 16

interface Stored {
  readonly world: ContentWorld
  readonly plain: Buffer
  readonly object: ObjectRecord
  /** The rows of the chunks of the body, in order. */
  readonly rows: readonly ChunkRecord[]
}

async function stored(size: number): Promise<Stored> {
  const world = new ContentWorld()
  const plain = patternBytes(size)
  const object = await world.put(plain)
  return { world, plain, object, rows: [...world.chunks.values()] }
}

function damage({ world, rows }: Stored, node: string, at: number): void {
  const row = rows[0]
  if (row === undefined) throw new Error('the body has a chunk')
  const bytes = world.blobs.bytesOn(node, row)
  bytes[at] = (bytes[at] ?? 0) ^ 0x10
}

t.test('read', async (t) => {
  t.test(
    'continues in the middle of a chunk on a good copy when the first one is damaged there',
    async (t) => {
      const body = await stored(CHUNK_BYTES + 100)
      damage(body, 'n1', 20 * SEALED_FRAME + 5)
      damage(body, 'n2', 40 * SEALED_FRAME + 5)
      t.ok((await body.world.get(body.object)).equals(body.plain))
      t.match(body.world.blobs.reports, [
        { nodeId: 'n1', fault: 'damaged' },
        { nodeId: 'n2', fault: 'damaged' },
      ])
      t.equal(body.world.blobs.reports.length, 2)
    },
  )

  t.test('reports a copy that is missing or cut short, and reads another', async (t) => {
    const body = await stored(10 * FRAME_BYTES)
    const row = body.rows[0]
    if (row === undefined) return t.fail('no chunk')
    body.world.blobs.lose('n1', row)
    body.world.blobs.put('n2', row, body.world.blobs.bytesOn('n2', row).subarray(0, 3 * SEALED_FRAME + 7))
    t.ok((await body.world.get(body.object)).equals(body.plain))
    t.match(body.world.blobs.reports, [
      { nodeId: 'n1', fault: 'missing' },
      { nodeId: 'n2', fault: 'damaged' },
    ])
  })

  t.test('does not report a copy whose node became unreachable in mid-stream', async (t) => {
    const body = await stored(10 * FRAME_BYTES)
    body.world.blobs.pieceBytes = 1000
    body.world.blobs.failAfter('n1', 4 * SEALED_FRAME + 1000, new Error('connection reset'))
    t.ok((await body.world.get(body.object)).equals(body.plain))
    t.strictSame(body.world.blobs.reports, [])
  })

  t.test('does not report a copy that equals the committed one, if the key is wrong', async (t) => {
    const body = await stored(3 * FRAME_BYTES)
    const wrongKeys = new ContentWorld({ blobs: body.world.blobs })
    for (const [id, row] of body.world.chunks) wrongKeys.chunks.set(id, row)
    for (const [version, links] of body.world.manifests) wrongKeys.manifests.set(version, links)
    await t.rejects(wrongKeys.get(body.object), { code: 'not_enough_replicas' })
    t.strictSame(body.world.blobs.reports, [])
  })

  t.test('fails before the first byte with not_enough_replicas when no copy can be read', async (t) => {
    const body = await stored(3 * FRAME_BYTES)
    for (const node of ['n1', 'n2', 'n3']) damage(body, node, 5)
    const pieces = body.world.read(body.object)[Symbol.asyncIterator]()
    await t.rejects(pieces.next(), { code: 'not_enough_replicas', cause: { errors: { length: 3 } } })
    t.equal(body.world.blobs.reports.length, 3)
  })

  t.test('says in the cause why each copy could not be read', async (t) => {
    const body = await stored(3 * FRAME_BYTES)
    for (const node of ['n1', 'n2', 'n3']) body.world.blobs.failAfter(node, 0, new Error(`${node} is away`))
    const pieces = body.world.read(body.object)[Symbol.asyncIterator]()
    await t.rejects(pieces.next(), { cause: { message: 'n1 is away; n2 is away; n3 is away' } })
  })

  t.test('reads the locations of the copies again if the row has changed', async (t) => {
    const body = await stored(3 * FRAME_BYTES)
    const row = body.rows[0]
    if (row === undefined) return t.fail('no chunk')
    body.world.blobs.lose('n1', row)
    body.world.chunks.set(row.id, { ...row, replicas: ['n1'] })
    const report = body.world.blobs.report.bind(body.world.blobs)
    body.world.blobs.report = (ref, node, fault) => {
      report(ref, node, fault)
      body.world.chunks.set(row.id, { ...row, replicas: ['n1', 'n3'] })
    }
    t.ok((await body.world.get(body.object)).equals(body.plain))
  })

  t.test('asks for newer rows when every copy that its own rows list has moved', async (t) => {
    const body = await stored(3 * FRAME_BYTES)
    const row = body.rows[0]
    if (row === undefined) return t.fail('no chunk')
    const { world } = body
    for (const node of ['n1', 'n2']) world.blobs.lose(node, row)
    // A node that lags: the copies are on n3 only, and the entries that say so are not applied here yet.
    world.chunks.set(row.id, { ...row, replicas: ['n1', 'n2'] })
    world.readBarrier = async () => void world.chunks.set(row.id, { ...row, replicas: ['n3'] })
    t.ok((await world.get(body.object)).equals(body.plain))
  })

  t.test('tries copies that may answer a moment later once more, from where it stopped', async (t) => {
    const body = await stored(10 * FRAME_BYTES)
    const { world } = body
    world.blobs.pieceBytes = SEALED_FRAME
    for (const node of ['n1', 'n2', 'n3'])
      world.blobs.failAfter(node, 2 * SEALED_FRAME, new Error(`${node} is slow`))
    let barriers = 0
    world.readBarrier = async () => {
      barriers += 1
      world.blobs.failAfter('n2', Number.POSITIVE_INFINITY, new Error('never'))
    }
    t.ok((await world.get(body.object)).equals(body.plain))
    t.equal(barriers, 1)
    t.strictSame(world.blobs.reports, [])
  })

  t.test('does not try copies again that are gone, and names what keeps it from newer rows', async (t) => {
    const body = await stored(3 * FRAME_BYTES)
    const row = body.rows[0]
    if (row === undefined) return t.fail('no chunk')
    const { world } = body
    for (const node of ['n1', 'n2', 'n3']) world.blobs.lose(node, row)
    await t.rejects(world.get(body.object), { cause: { errors: { length: 3 } } })
    world.readBarrier = () => Promise.reject(new Error('no leader is known'))
    await t.rejects(world.get(body.object), {
      code: 'not_enough_replicas',
      cause: { message: /no leader is known$/ },
    })
  })

  t.test('gives up after one more round', async (t) => {
    const body = await stored(3 * FRAME_BYTES)
    for (const node of ['n1', 'n2', 'n3']) body.world.blobs.failAfter(node, 0, new Error(`${node} is away`))
    await t.rejects(body.world.get(body.object), { cause: { errors: { length: 6 } } })
  })

  t.test('never accepts another chunk', async (t) => {
    const body = await stored(2 * CHUNK_BYTES)
    const [first, second] = body.rows
    if (first === undefined || second === undefined) return t.fail('two chunks')
    for (const node of ['n1', 'n2']) {
      const [one, two] = [body.world.blobs.bytesOn(node, first), body.world.blobs.bytesOn(node, second)]
      body.world.blobs.put(node, first, two)
      body.world.blobs.put(node, second, one)
    }
    t.ok((await body.world.get(body.object)).equals(body.plain))
    t.equal(body.world.blobs.reports.length, 4)
  })

  t.test('gives right bytes, or a right beginning and an error, for any damage of any copies', async () => {
    const size = 3 * FRAME_BYTES + 321
    const spot = fc.record({
      node: fc.constantFrom('n1', 'n2', 'n3'),
      at: fc.nat(size - 1),
      how: fc.constantFrom('flip', 'cut', 'lose', 'break'),
    })
    const property = fc.asyncProperty(
      fc.array(spot, { maxLength: 5 }),
      fc.nat(size),
      fc.nat(size),
      fc.constantFrom(5000, 65_552, 300_000),
      async (spots, a, b, pieceBytes) => {
        const body = await stored(size)
        const row = body.rows[0]
        if (row === undefined) return false
        const { blobs } = body.world
        blobs.pieceBytes = pieceBytes
        const lost = new Set<string>()
        for (const { node, at, how } of spots) {
          if (how === 'lose') lost.add(node)
          if (lost.has(node)) blobs.lose(node, row)
          else if (how === 'flip') {
            const bytes = blobs.bytesOn(node, row)
            if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ 1
          } else if (how === 'cut') blobs.put(node, row, blobs.bytesOn(node, row).subarray(0, at))
          else blobs.failAfter(node, at, new Error('unreachable'))
        }
        const [start, end] = a < b ? [a, b] : [b, a]
        const expected = body.plain.subarray(start, end)
        const given: Uint8Array[] = []
        try {
          for await (const piece of body.world.read(body.object, start, end)) given.push(piece)
        } catch (error) {
          const bytes = Buffer.concat(given)
          const isRefused = error instanceof Error && 'code' in error && error.code === 'not_enough_replicas'
          const touched = new Set(spots.map((one) => one.node))
          return isRefused && touched.size === 3 && bytes.equals(expected.subarray(0, bytes.length))
        }
        return Buffer.concat(given).equals(expected)
      },
    )
    await fc.assert(property, { numRuns: 100, seed: 6 })
  })
})
