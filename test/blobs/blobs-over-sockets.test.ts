/**
 * The same guarantees with nothing simulated: three stores on disk, real sockets, 4 MiB blobs.
 */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { ReplicatedBlobs } from '../../cluster/blobs/replication/replicated-blobs.ts'
import { SystemClock } from '../../cluster/base/system-clock.ts'
import { PeerTransport } from '../../cluster/transport/peer-transport.ts'
import { BlobDamagedError, BlobMissingError } from '../../cluster/base/types.ts'
import { collect, refOf, sampleBlob, sha256 } from './blob-samples.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'

const MIB = 1024 * 1024

async function startNodes(t: Test) {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-sockets-'))
  const addresses = new Map(['n1', 'n2', 'n3'].map((nodeId) => [nodeId, '127.0.0.1:1']))
  const members = [...addresses.keys()].map((nodeId) => ({
    nodeId,
    peerAddress: '',
    zone: nodeId,
    weight: 1,
  }))
  const clock = new SystemClock()
  const nodes = members.map(({ nodeId }) => {
    const directory = join(root, nodeId)
    const transport = new PeerTransport({
      clusterId: 'sockets',
      nodeId,
      incarnation: nodeId,
      listen: '127.0.0.1:0',
      addresses,
      tls: null,
      clock,
      logger: SILENT,
    })
    const store = new DiskBlobStore({
      directory,
      logger: SILENT,
      onFatal: (error) => t.fail(error.message),
    })
    // A busy machine may need longer than the default grace; this test waits for all three copies.
    const limits = { graceMs: 60_000 }
    const common = { members, clock, incarnation: nodeId, boot: '1', logger: SILENT, limits }
    return {
      nodeId,
      directory,
      transport,
      store,
      blobs: new ReplicatedBlobs({ ...common, nodeId, store, locks: new CopyLocks(), transport }),
    }
  })
  for (const { nodeId, transport, store } of nodes) {
    await store.open()
    await transport.start({ onMessages: () => undefined, onUnreachable: () => undefined })
    addresses.set(nodeId, transport.address)
  }
  t.teardown(async () => {
    await Promise.all(nodes.map(({ transport }) => transport.stop()))
    await Promise.all(nodes.map(({ store }) => store.close()))
    await rm(root, { recursive: true, force: true })
  })
  return nodes
}

type Nodes = Awaited<ReturnType<typeof startNodes>>

function nodeOf(nodes: Nodes, nodeId: string): Nodes[number] {
  const node = nodes.find((one) => one.nodeId === nodeId)
  if (node === undefined) throw new Error(`There is no node "${nodeId}"`)
  return node
}

t.test('three nodes over sockets', async (t) => {
  const nodes = await startNodes(t)
  const blob = sampleBlob(1, 4 * MIB)

  t.test('write a blob to every disk and read it from every copy', async (t) => {
    const { replicas, missing } = await nodeOf(nodes, 'n1').blobs.write(blob)
    t.strictSame([[...replicas].sort(), missing], [['n1', 'n2', 'n3'], []])
    const reader = nodeOf(nodes, 'n2').blobs
    for (const copy of reader.copies(refOf(blob, replicas))) {
      t.equal(sha256(await collect(copy.read(0, blob.size))), blob.checksum, copy.nodeId)
      const part = await collect(copy.read(MIB - 7, 2 * MIB + 9))
      t.ok(Buffer.from(part).equals(blob.bytes.subarray(MIB - 7, 2 * MIB + 9)))
    }
  })

  t.test('keep nothing of a blob whose bytes are wrong, and continue', async (t) => {
    const wrong = { ...sampleBlob(2, 2 * MIB), checksum: sampleBlob(3).checksum }
    await t.rejects(nodeOf(nodes, 'n1').blobs.write(wrong))
    for (const { store, directory } of nodes) {
      t.equal(await store.stat(wrong), null)
      // The refusal is reported as soon as two copies have failed; the third may still be cleaning up.
      const temporary = join(directory, 'tmp')
      await until('nothing is left of it', async () => (await readdir(temporary)).length === 0)
    }
  })

  t.test('distinguish missing from damaged', async (t) => {
    const [copy] = nodeOf(nodes, 'n1').blobs.copies(refOf(sampleBlob(9), ['n3']))
    await t.rejects(collect(copy?.read(0, 1) ?? nothing()), BlobMissingError)
    const torn = sampleBlob(4, MIB)
    await nodeOf(nodes, 'n1').blobs.write(torn)
    const { directory, store } = nodeOf(nodes, 'n3')
    await writeFile(join(directory, torn.id.slice(0, 2), `${torn.id}.${torn.birth}`), 'torn')
    const [broken] = nodeOf(nodes, 'n1').blobs.copies(refOf(torn, ['n3']))
    await t.rejects(collect(broken?.read(0, MIB) ?? nothing()), BlobDamagedError)
    await t.rejects(store.stat(torn), BlobDamagedError)
  })

  t.test('transfer 24 blobs concurrently and completely', async (t) => {
    const many = Array.from({ length: 24 }, (_, n) => sampleBlob(100 + n, 300_000))
    const writer = nodeOf(nodes, 'n1').blobs
    const written = await Promise.all(many.map((one) => writer.write(one)))
    const reader = nodeOf(nodes, 'n3').blobs
    for (const [n, one] of many.entries()) {
      const [copy] = reader.copies(refOf(one, written[n]?.replicas.filter((nodeId) => nodeId !== 'n3') ?? []))
      t.equal(sha256(await collect(copy?.read(0, one.size) ?? nothing())), one.checksum)
    }
  })

  t.test('continue with two nodes; with one, writes are refused and reads continue', async (t) => {
    await nodeOf(nodes, 'n3').transport.stop()
    const { blobs } = nodeOf(nodes, 'n1')
    const later = sampleBlob(5, MIB)
    const { replicas, missing } = await blobs.write(later)
    t.strictSame([[...replicas].sort(), missing], [['n1', 'n2'], ['n3']])
    await nodeOf(nodes, 'n2').transport.stop()
    await t.rejects(blobs.write(sampleBlob(6)), { name: 'Condition', code: 'not_enough_replicas' })
    const [own] = blobs.copies(refOf(later, replicas))
    t.equal(sha256(await collect(own?.read(0, MIB) ?? nothing())), later.checksum)
  })
})

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield* []
}
