/**
 * Proofs of reads over a network that fails: which copy is tried, how a bad one is handled, what a hostile peer can
 * do, and how a node that was away gets its copies.
 */
import t, { type Test } from 'tap'
import { BlobMissingError, type BlobRef } from '../../cluster/base/types.ts'
import { PeerRefusedError, PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { Throttle } from '../../cluster/repair/throttle.ts'
import { RepairEngine } from '../../cluster/repair/repair-engine.ts'
import { BlobCluster } from './blob-cluster.ts'
import { collect, refOf, sampleBlob, sha256, streamOf } from './blob-samples.ts'
import { SILENT } from '../helpers/loggers.ts'

t.test('ReplicatedBlobs.copies', async (t) => {
  t.test('offers its own copy first, then its own zone, then the others, the unreachable last', async (t) => {
    const cluster = await BlobCluster.start(t, 'x x y y z')
    const { blobs } = cluster.node('n1')
    const blob = sampleBlob(1)
    const order = (replicas: string[]) => [...blobs.copies(refOf(blob, replicas))].map(({ nodeId }) => nodeId)
    t.strictSame(order(['n3', 'n2', 'n1']), ['n1', 'n2', 'n3'])
    t.strictSame(order(['n3', 'n2', 'n3']), ['n2', 'n3'])
    t.strictSame(order(['n3', 'gone', 'n2']), ['n2', 'n3'], 'a node that is not a member cannot be contacted')
    await cluster.node('n2').transport.stop()
    const [copy] = blobs.copies(refOf(blob, ['n2', 'n3']))
    await t.rejects(
      cluster.clock.resolve(collect(copy?.read(0, 1) ?? streamOf()), { limitMs: 20_000 }),
      PeerUnreachableError,
    )
    t.strictSame(order(['n3', 'n2', 'n1']), ['n1', 'n3', 'n2'])
  })

  t.test("streams any range of its own and of a peer's copy", async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const blob = sampleBlob(1, 10_000)
    const { replicas } = await cluster.write(blob)
    for (const copy of cluster.node('n2').blobs.copies(refOf(blob, replicas))) {
      for (const [start, end] of [
        [0, 10_000],
        [17, 9_001],
        [5, 5],
      ] as const) {
        const bytes = await cluster.clock.resolve(collect(copy.read(start, end)), { limitMs: 1_000 })
        t.equal(sha256(bytes), sha256(blob.bytes.subarray(start, end)), `${copy.nodeId} [${start}, ${end})`)
      }
    }
  })

  t.test(
    'reports missing when a peer has no such copy, and unreachable when it breaks off in the middle',
    async (t) => {
      const cluster = await BlobCluster.start(t, 'x y z')
      const blob = sampleBlob(1, 10_000)
      const ref = refOf(blob, ['n2'])
      const [copy] = cluster.node('n1').blobs.copies(ref)
      if (copy === undefined) throw new Error('there is a copy')
      await t.rejects(cluster.clock.resolve(collect(copy.read(0, 10)), { limitMs: 1_000 }), BlobMissingError)
      await cluster.node('n2').store.write(blob, streamOf(blob.bytes), blob)
      const pieces: Uint8Array[] = []
      const reading = (async () => {
        for await (const piece of copy.read(0, blob.size)) {
          pieces.push(piece)
          cluster.network.isolate('n2')
        }
      })()
      await t.rejects(cluster.clock.resolve(reading, { limitMs: 60_000 }), PeerUnreachableError)
      t.equal(pieces.length, 1)
    },
  )

  t.test('leaves nothing open when a reader stops early', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z', { incomingGetsMax: 1, incomingWaitingMax: 0 })
    const blob = sampleBlob(1, 10_000)
    const { replicas } = await cluster.write(blob)
    const copy = [...cluster.node('n1').blobs.copies(refOf(blob, replicas))].find(
      ({ nodeId }) => nodeId === 'n2',
    )
    if (copy === undefined) throw new Error('n2 holds a copy')
    for (let round = 0; round < 5; round++) {
      const reading = (async () => {
        for await (const piece of copy.read(0, blob.size)) return piece.length
        return 0
      })()
      t.equal(await cluster.clock.resolve(reading, { limitMs: 1_000 }), 300)
      await cluster.clock.advance(10)
    }
  })
})

t.test('ReplicatedBlobs.report', async (t) => {
  const written = async (t: Test) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const blob = sampleBlob(1)
    const { replicas } = await cluster.write(blob)
    return { cluster, blob, ref: refOf(blob, replicas) }
  }

  t.test('quarantines a damaged copy on its node, this one or a peer, and reports it', async (t) => {
    const { cluster, blob, ref } = await written(t)
    const { blobs, faults } = cluster.node('n1')
    for (const owner of ['n1', 'n2']) {
      await cluster.node(owner).store.damage(blob)
      blobs.report(ref, owner, 'damaged')
      blobs.report(ref, owner, 'damaged')
      await cluster.clock.advance(100)
      t.equal(await cluster.node(owner).store.stat(blob), null)
      t.equal(cluster.node(owner).store.quarantined.length, 1)
    }
    t.strictSame(faults, ['birth-1@n1 damaged', 'birth-1@n2 damaged'])
    t.equal((await cluster.node('n3').store.verify(blob)).checksum, blob.checksum)
    const damaged = cluster
      .node('n2')
      .blobs.metrics()
      .find(({ name }) => name === 'holdfast_blobs_damaged_total')
    t.equal(damaged?.value, 1)
  })

  t.test("never takes a good copy out of service because of a reader's report", async (t) => {
    const { cluster, blob, ref } = await written(t)
    const { blobs, faults } = cluster.node('n1')
    for (const owner of ['n1', 'n2', 'n3']) {
      blobs.report(ref, owner, 'damaged')
      blobs.report(ref, owner, 'missing')
    }
    await cluster.clock.advance(1_000)
    t.strictSame(faults, [])
    for (const { store } of cluster.nodes.values())
      t.equal((await store.verify(blob)).checksum, blob.checksum)
  })

  t.test('reports a missing copy, and nothing while its owner is unreachable', async (t) => {
    const { cluster, blob, ref } = await written(t)
    const { blobs, faults } = cluster.node('n1')
    cluster.network.isolate('n2')
    blobs.report(ref, 'n2', 'missing')
    await cluster.clock.advance(30_000)
    t.strictSame(faults, [])
    cluster.network.heal()
    await cluster.node('n2').store.quarantine(blob)
    blobs.report(ref, 'n2', 'missing')
    await cluster.clock.advance(100)
    t.strictSame(faults, ['birth-1@n2 missing'])
  })
})

t.test('blob calls of a hostile peer', async (t) => {
  const cluster = await BlobCluster.start(t, 'x y z')
  const blob = sampleBlob(1)
  const good = { id: blob.id, birth: blob.birth, size: blob.size, checksum: blob.checksum, start: 0, end: 1 }
  const { transport } = cluster.node('n1')
  const call = (method: string, header: unknown, body?: Uint8Array) =>
    cluster.clock.resolve(transport.call('n2', method, { header, ...(body && { body }) }), {
      limitMs: 60_000,
    })

  t.test('are refused when any field of the header is invalid, and nothing is stored', async (t) => {
    const bad: [string, unknown][] = [
      ['blob.put', null],
      ['blob.put', 'text'],
      ['blob.put', { ...good, id: '../../../../etc/passwd' }],
      ['blob.put', { ...good, birth: '..' }],
      ['blob.put', { ...good, size: -1 }],
      ['blob.put', { ...good, size: '1000' }],
      ['blob.put', { ...good, checksum: 'short' }],
      ['blob.puts', {}],
      ['blob.puts', { blobs: [] }],
      ['blob.puts', { blobs: [null] }],
      ['blob.puts', { blobs: [[good.id, good.birth, 0, good.checksum]] }],
      ['blob.puts', { blobs: [[good.id, '..', 1, good.checksum]] }],
      ['blob.puts', { blobs: [[good.id, good.birth, 2 ** 40, good.checksum]] }],
      ['blob.puts', { blobs: Array.from({ length: 65 }, () => [good.id, good.birth, 1, good.checksum]) }],
      ['blob.get', { ...good, start: 2 }],
      ['blob.get', { ...good, end: 0.5 }],
      ['blob.get', { ...good, id: 7 }],
      ['blob.stat', { id: good.id }],
      ['blob.report', {}],
    ]
    for (const [method, header] of bad) {
      await t.rejects(call(method, header, method.startsWith('blob.put') ? blob.bytes : undefined), {
        name: 'PeerRefusedError',
        code: 'blob_call_invalid',
      })
    }
    t.strictSame(await cluster.node('n2').store.list(null, 10), [])
  })

  t.test('are refused when the bytes do not match the header', async (t) => {
    await t.rejects(call('blob.put', good, blob.bytes.subarray(1)), { code: 'size_mismatch' })
    await t.rejects(call('blob.put', good, sampleBlob(2).bytes), { code: 'checksum_mismatch' })
    t.equal(await cluster.node('n2').store.stat(blob), null)
    await t.rejects(call('blob.stat', good), PeerRefusedError)
  })
})

t.test('a node that was away', async (t) => {
  t.test('gets every missed copy from the others when it returns, and serves them', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    cluster.network.isolate('n3')
    const rows = new Map<string, BlobRef>()
    for (let seed = 0; seed < 20; seed++) {
      const blob = sampleBlob(seed)
      const { replicas, missing } = await cluster.write(blob)
      t.strictSame(missing, ['n3'])
      rows.set(blob.birth, refOf(blob, replicas))
    }
    const { store, blobs } = cluster.node('n3')
    const repair = new RepairEngine({
      locks: new CopyLocks(),
      throttle: new Throttle(cluster.clock, null),
      nodeId: 'n3',
      tasks: {
        pending: (target, limit) =>
          [...rows.values()].slice(0, limit).map((ref) => ({ ref, target, permit: 1 })),
        done: async (tasks) => tasks.forEach(({ ref }) => rows.delete(ref.birth)),
        copyStatus: () => 'owed',
      },
      store,
      blobs,
      clock: cluster.clock,
      logger: SILENT,
      random: () => 0,
    })
    repair.start()
    await cluster.clock.advance(5_000)
    t.equal(rows.size, 20)
    cluster.network.heal()
    await cluster.clock.runUntil(() => rows.size === 0, { limitMs: 60_000 })
    for (let seed = 0; seed < 20; seed++)
      t.equal((await store.verify(sampleBlob(seed))).checksum, sampleBlob(seed).checksum)
    await repair.stop()
  })
})
