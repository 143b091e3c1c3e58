/**
 * Uploads and downloads that are disturbed in mid-stream, with real processes: a node that is suspended or dies, a client that goes
 * away, a reader that does not read. [issue: bounded memory, no leaked files, clear errors, the rest continues]
 */
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { deferred, until } from '../helpers/async.ts'
import { type Answer, ProcessCluster, sha256 } from '../helpers/process-cluster.ts'

const MIB = 1024 * 1024
/** About ten chunks. */
const OBJECT = randomBytes(39 * MIB + 17)
/** Where an upload stops until the test continues it: in the middle of a chunk. */
const HALT_AT = 14 * MIB + 5
const PIECE = 64 * 1024

interface Halted {
  /** Resolves when the node has read half of the body. */
  readonly half: Promise<void>
  readonly sendMore: () => void
  readonly breakOff: () => void
  readonly answer: Promise<Answer>
}

function haltedUpload(cluster: ProcessCluster, nodeId: string, key: string): Halted {
  const [half, gate, abort] = [deferred(), deferred(), new AbortController()]
  const body = Readable.from(
    (async function* () {
      for (let at = 0; at < OBJECT.length; at += PIECE) {
        if (at >= HALT_AT && at < HALT_AT + PIECE) {
          half.resolve()
          await gate.promise
        }
        yield OBJECT.subarray(at, at + PIECE)
      }
    })(),
    { objectMode: false },
  )
  const answer = cluster.ask(nodeId, { method: 'PUT', path: pathOf(key), body, signal: abort.signal })
  return { half: half.promise, sendMore: gate.resolve, breakOff: () => abort.abort(), answer }
}

const pathOf = (key: string): string => `/buckets/work/objects/${key}`

async function expectWhole(t: Tap, cluster: ProcessCluster, nodeIds: readonly string[], key: string) {
  for (const nodeId of nodeIds) {
    const { status, body } = await cluster.call(nodeId, 'GET', pathOf(key))
    t.equal(status, 200, `${nodeId} gives ${key}`)
    t.equal(sha256(body), sha256(OBJECT), `${nodeId} gives the bytes of ${key}`)
  }
}

type Tap = Pick<typeof t, 'equal'>

/** A node that neither leads nor takes the upload. */
async function bystander(cluster: ProcessCluster, gateway: string): Promise<string> {
  let leader: string | undefined
  await until('there is a leader', async () => (leader = await cluster.leader()) !== undefined)
  return cluster.plan.map(({ nodeId }) => nodeId).find((id) => id !== gateway && id !== leader) ?? ''
}

function unfinishedFiles(cluster: ProcessCluster): readonly string[] {
  return cluster.plan.flatMap(({ dataDir }) => readdirSync(join(dataDir, 'blobs', 'tmp')))
}

t.test('a cluster of three processes', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"work"}')).status, 201)

  await t.test('finishes an upload while a node that takes copies is suspended', async (t) => {
    const victim = await bystander(cluster, 'n1')
    const upload = haltedUpload(cluster, 'n1', 'stalled')
    await upload.half
    cluster.pause(victim)
    upload.sendMore()
    t.equal((await upload.answer).status, 200)
    const others = cluster.plan.map(({ nodeId }) => nodeId).filter((nodeId) => nodeId !== victim)
    await expectWhole(t, cluster, others, 'stalled')
    cluster.resume(victim)
    await cluster.allReady()
    await expectWhole(t, cluster, [victim], 'stalled')
  })

  await t.test('finishes an upload although a node that takes copies dies in the middle', async (t) => {
    const victim = await bystander(cluster, 'n2')
    const upload = haltedUpload(cluster, 'n2', 'killed')
    await upload.half
    await cluster.signal(victim, 'SIGKILL')
    upload.sendMore()
    t.equal((await upload.answer).status, 200)
    const others = cluster.plan.map(({ nodeId }) => nodeId).filter((nodeId) => nodeId !== victim)
    await expectWhole(t, cluster, others, 'killed')
    cluster.startNode(victim)
    await cluster.allReady()
    await expectWhole(t, cluster, [victim], 'killed')
  })

  await t.test(
    'finishes a download although the node that serves its chunks dies in the middle',
    async (t) => {
      const victim = await bystander(cluster, 'n1')
      const reading = await cluster.open('n1', pathOf('killed'))
      const pieces: Buffer[] = []
      for await (const piece of reading) {
        if (pieces.length === 0) await cluster.signal(victim, 'SIGKILL')
        pieces.push(piece)
      }
      t.equal(sha256(Buffer.concat(pieces)), sha256(OBJECT))
      cluster.startNode(victim)
      await cluster.allReady()
    },
  )

  await t.test('keeps no files and no memory of uploads whose clients went away', async (t) => {
    const nodes = cluster.plan.map(({ nodeId }) => nodeId)
    // More than the buffers of any node: if one upload were kept, the last one would wait forever.
    for (let round = 0; round < 12; round += 1) {
      const uploads = nodes.map((nodeId) => haltedUpload(cluster, nodeId, `gone-${round}-${nodeId}`))
      await Promise.all(uploads.map(({ half }) => half))
      for (const upload of uploads) upload.breakOff()
      for (const upload of uploads) await t.rejects(upload.answer)
    }
    for (const nodeId of nodes)
      t.equal((await cluster.call('n1', 'GET', pathOf(`gone-0-${nodeId}`))).status, 404)
    await until('no half-written file is left', () => unfinishedFiles(cluster).length === 0)
    for (const nodeId of nodes) {
      const upload = haltedUpload(cluster, nodeId, `after-${nodeId}`)
      upload.sendMore()
      t.equal((await upload.answer).status, 200, `${nodeId} accepts uploads as before`)
    }
  })

  await t.test('is not delayed by a reader that does not read, and sends it the rest later', async (t) => {
    const slow = await Promise.all(Array.from({ length: 20 }, () => cluster.open('n3', pathOf('killed'))))
    for (let round = 0; round < 10; round += 1) {
      const body = randomBytes(300_000)
      t.equal((await cluster.call('n3', 'PUT', pathOf(`meanwhile-${round}`), body)).status, 200)
      t.equal(sha256((await cluster.call('n3', 'GET', pathOf(`meanwhile-${round}`))).body), sha256(body))
    }
    const [kept, ...given] = slow
    for (const reading of given) reading.destroy()
    const pieces: Buffer[] = []
    for await (const piece of kept ?? []) pieces.push(piece as Buffer)
    t.equal(sha256(Buffer.concat(pieces)), sha256(OBJECT))
  })
})
