/**
 * The same guarantees with nothing simulated: three nodes, real disks, real sockets, real rows.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { BlobDamagedError, BlobMissingError, type BlobRef } from '../../cluster/index.ts'
import { collect, sha256 } from '../blobs/blob-samples.ts'
import { endRereplications } from '../../src/workers/rereplication.ts'
import { Scrubbing } from '../../src/workers/scrubbing.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { startOperation } from '../state-machine/map-world.ts'
import { copiesOn, flipBit, type RealNode, RealNodes, type Upload } from './real-nodes.ts'
import { longOperationKeys, longOperationRanges } from '../../src/state-machine/long-operations/keys.ts'

/** Reads like the service: the best copy first, the next one when it is bad, and a report to its holder. */
async function read({ cluster }: RealNode, ref: BlobRef): Promise<string> {
  for (const copy of cluster.blobs.copies(ref)) {
    try {
      const bytes = await collect(copy.read(0, ref.size))
      if (sha256(bytes) === ref.checksum) return ref.checksum
      throw new BlobDamagedError('Other bytes')
    } catch (cause) {
      if (!(cause instanceof BlobMissingError || cause instanceof BlobDamagedError)) throw cause
      cluster.blobs.report(ref, copy.nodeId, cause instanceof BlobMissingError ? 'missing' : 'damaged')
    }
  }
  return 'no copy'
}

t.test('three nodes', async (t) => {
  const three = await RealNodes.start(t)
  const uploads: Upload[] = []
  for (let seed = 0; seed < 24; seed++) uploads.push(await three.upload(seed))
  await three.commit(uploads)
  const isWhole = async (): Promise<boolean> => {
    for (const { ref } of uploads) if (three.listed(ref).length < 3) return false
    for (const node of three.nodes) if ((await copiesOn(node, uploads)).length < uploads.length) return false
    return true
  }
  await until('all copies are on all disks', isWhole)

  t.test('each report the progress of all of them', async (t) => {
    for (const { cluster } of three.nodes) {
      const statuses = await cluster.repairStatuses()
      t.strictSame(
        statuses.map(({ nodeId, status, disk }) => [
          nodeId,
          status?.inventory.runs !== undefined,
          disk !== null,
        ]),
        ['n1', 'n2', 'n3'].map((nodeId) => [nodeId, true, true]),
      )
    }
  })

  t.test('make every copy of a node again within a pass when all of them are damaged', async (t) => {
    const { directory, cluster } = three.node('n2')
    for (const { blob } of uploads) await flipBit(directory, blob)
    await until('all are quarantined', async () => {
      return (await readdir(join(directory, 'quarantine'))).length >= uploads.length
    })
    await until('all are made again', isWhole)
    for (const { ref } of uploads) {
      const own = cluster.blobs.copies({ ...ref, replicas: ['n2'] })
      for (const copy of own) t.equal(sha256(await collect(copy.read(0, ref.size))), ref.checksum)
    }
  })

  t.test('serve everything while a directory is gone, and make all its copies again', async (t) => {
    const node = three.node('n3')
    await rm(node.directory, { recursive: true })
    for (const { ref } of uploads) t.equal(await read(node, ref), ref.checksum)
    await until('all are made again', isWhole)
    const recovery = async () => {
      for (const { cluster, reader: state, propose } of three.nodes)
        await endRereplications({ cluster, state, propose, logger: SILENT })
      return (await three.node('n1').reader.page(longOperationRanges.operations(), { limit: 10 })).items.at(
        -1,
      )
    }
    await until('the recovery is over', async () => (await recovery())?.status === 'succeeded')
    const { kind, node: of, progress } = (await recovery()) ?? {}
    t.match({ kind, of }, { kind: 'recovery', of: 'n3' })
    // Readers reported a few as lost before the loss of the directory was detected.
    t.ok(
      (progress?.blobsDone ?? 0) > 0 && progress?.blobsDone === progress?.blobsTotal,
      JSON.stringify(progress),
    )
    const samples = await node.cluster.metrics()
    const sample = samples.find(({ name }) => name === 'holdfast_blob_directory_lost_total')
    t.equal(sample?.value, 1)
  })

  t.test('read everything back on request, each node its own copies', async (t) => {
    const nodes = three.nodes.map(({ nodeId }) => nodeId)
    const { reader, propose } = three.node('n1')
    const scrub = { ...startOperation('op_scrub'), kind: 'scrub', nodes } as const
    await propose(scrub)
    const workers = three.nodes.map(({ cluster, reader: state, propose: own }) => {
      return new Scrubbing({ cluster, state, propose: own, now: () => performance.now(), logger: SILENT })
    })
    await until('every node has finished', async () => {
      for (const worker of workers) await worker.round()
      return reader.get(longOperationKeys.operation('op_scrub'))?.status === 'succeeded'
    })
    const { shares = {}, progress } = reader.get(longOperationKeys.operation('op_scrub')) ?? {}
    for (const nodeId of nodes) t.ok((shares[nodeId]?.copies ?? 0) >= uploads.length, nodeId)
    t.ok((progress?.bytesMoved ?? 0) >= 3 * uploads.reduce((sum, { blob }) => sum + blob.size, 0))
  })

  t.test('remove the leftovers of an ended session, and none of an unknown session', async (t) => {
    const left = [await three.upload(100), await three.upload(101)]
    const unknown = await three.upload(102, 'f'.repeat(24))
    await until('they are on all disks', async () => {
      const found = await Promise.all(three.nodes.map((node) => copiesOn(node, [...left, unknown])))
      return found.every((copies) => copies.length === 3)
    })
    // A session of the same node ends when the next one starts.
    await three.openSession()
    await until('they are gone', async () => {
      const found = await Promise.all(three.nodes.map((node) => copiesOn(node, left)))
      return found.every((copies) => copies.length === 0)
    })
    for (const node of three.nodes)
      t.equal((await copiesOn(node, [...uploads, unknown])).length, uploads.length + 1)
  })
})
