/**
 * Proofs of replication over a network that fails: who holds a copy after a write, which copy a read takes, what
 * becomes of a bad one.
 */
import t, { type Test } from 'tap'
import { BlobMissingError, type BlobRef } from '../../cluster/types.ts'
import { PeerRefusedError, PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { RepairEngine } from '../../cluster/repair/repair-engine.ts'
import { BlobCluster } from './blob-cluster.ts'
import { collect, refOf, sampleBlob, sha256, streamOf } from './blob-samples.ts'
import { QUIET } from './quiet-logger.ts'

t.test('ReplicatedBlobs.newBirth', async (t) => {
  t.test('is a valid name, differs every time and between nodes', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const births = [...cluster.nodes.values()].flatMap(({ blobs }) => [1, 2, 3].map(() => blobs.newBirth()))
    t.equal(new Set(births).size, 9)
    for (const birth of births) t.match(birth, /^[a-z0-9-]{1,64}$/)
  })
})

t.test('ReplicatedBlobs.write', async (t) => {
  t.test('puts the same bytes on three nodes, from whichever node it starts', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    for (const [seed, from] of ['n1', 'n2', 'n3'].entries()) {
      const blob = sampleBlob(seed, 700_000)
      const { replicas, missing } = await cluster.write(blob, from)
      t.strictSame([...replicas].sort(), ['n1', 'n2', 'n3'])
      t.strictSame(missing, [])
      for (const { store } of cluster.nodes.values())
        t.equal((await store.verify(blob)).checksum, blob.checksum)
    }
  })

  t.test(
    'succeeds with two copies and names the third when one node is down, at once from the second write on',
    async (t) => {
      const cluster = await BlobCluster.start(t, 'x y z')
      await cluster.node('n3').transport.stop()
      const first = await cluster.write(sampleBlob(1))
      t.strictSame([[...first.replicas].sort(), first.missing], [['n1', 'n2'], ['n3']])
      const before = cluster.clock.now()
      const second = await cluster.write(sampleBlob(2))
      t.strictSame(second.missing, ['n3'])
      t.ok(cluster.clock.now() - before < 10, 'a node known to be down costs no waiting')
    },
  )

  t.test(
    'refuses with not_enough_replicas when two of three are down, and works again when one is back',
    async (t) => {
      const cluster = await BlobCluster.start(t, 'x y z')
      cluster.network.isolate('n2')
      cluster.network.isolate('n3')
      for (const seed of [1, 2, 3]) {
        const refused = cluster.write(sampleBlob(seed))
        await t.rejects(refused, { name: 'Condition', code: 'not_enough_replicas', retryAfterMs: 1000 })
      }
      cluster.network.heal()
      t.equal(
        (await cluster.write(sampleBlob(4))).replicas.length >= 2,
        true,
        'no cool-down stands in the way',
      )
    },
  )

  t.test('counts a node that refuses as failed: a full disk is no copy', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    cluster.node('n2').store.gate = () => Promise.reject(new Error('the disk is full'))
    const { replicas, missing } = await cluster.write(sampleBlob(1))
    t.strictSame([[...replicas].sort(), missing], [['n1', 'n3'], ['n2']])
    cluster.node('n1').store.gate = () => Promise.reject(new Error('the disk is full'))
    await t.rejects(cluster.write(sampleBlob(2)), { code: 'not_enough_replicas' })
  })

  t.test('does not wait for a slow third beyond the grace; its copy lands later', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const slow = cluster.node('n3')
    slow.store.gate = () => new Promise((resolve) => void cluster.clock.after(2_000, resolve))
    const blob = sampleBlob(1)
    const before = cluster.clock.now()
    const { missing } = await cluster.write(blob)
    t.strictSame(missing, ['n3'])
    t.ok(cluster.clock.now() - before < 200)
    t.equal(await slow.store.stat(blob), null)
    await cluster.clock.advance(3_000)
    t.equal((await slow.store.verify(blob)).checksum, blob.checksum)
  })

  t.test(
    'hands a copy to another member when a preferred one of five is down, without touching the rest',
    async (t) => {
      const cluster = await BlobCluster.start(t, 'v w x y z')
      const blob = sampleBlob(1)
      const [first, second, third, fourth, fifth] = cluster.ranked(blob) as [
        string,
        string,
        string,
        string,
        string,
      ]
      await cluster.node(second).transport.stop()
      const { replicas, missing } = await cluster.write(blob, first)
      t.strictSame([...replicas].sort(), [first, third, fourth].sort())
      t.strictSame(missing, [])
      t.equal(await cluster.node(fifth).store.stat(blob), null)
    },
  )

  t.test('tells the caller when the bytes are not what it says', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const wrong = { ...sampleBlob(1), checksum: sampleBlob(2).checksum }
    await t.rejects(cluster.write(wrong), { name: 'BlobWriteError', code: 'checksum_mismatch' })
    await t.rejects(cluster.write({ ...sampleBlob(1), id: '../../x' }), TypeError)
  })

  t.test('works with one node and with two', async (t) => {
    const alone = await BlobCluster.start(t, 'x')
    t.strictSame(await alone.write(sampleBlob(1)), { replicas: ['n1'], missing: [] })
    const pair = await BlobCluster.start(t, 'x y')
    t.equal((await pair.write(sampleBlob(1))).replicas.length, 2)
    await pair.node('n2').transport.stop()
    await t.rejects(pair.write(sampleBlob(2)), { code: 'not_enough_replicas' })
  })

  t.test('refuses when the node is stopping', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    cluster.node('n1').blobs.stop()
    await t.rejects(cluster.write(sampleBlob(1)), { code: 'shutting_down' })
  })
})

t.test('ReplicatedBlobs bounds', async (t) => {
  t.test('runs so many writes, lets so many wait, and refuses the rest with slow_down at once', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z', { writesMax: 4, writesWaitingMax: 8 })
    const { store, blobs } = cluster.node('n1')
    let held = 0
    let open = () => undefined as void
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    for (const node of cluster.nodes.values()) {
      node.store.gate = async () => {
        if (node.store === store) held++
        await opened
      }
    }
    const outcomes = Array.from({ length: 40 }, (_, seed) =>
      blobs.write(sampleBlob(seed)).then(
        () => 'written',
        (cause: { code?: string }) => cause.code,
      ),
    )
    await cluster.clock.advance(100)
    t.equal(held, 4, 'bytes of four blobs are in use')
    open()
    const codes = await cluster.clock.resolve(Promise.all(outcomes), { limitMs: 10_000 })
    t.equal(codes.filter((code) => code === 'written').length, 12)
    t.equal(codes.filter((code) => code === 'slow_down').length, 28)
  })

  t.test(
    'holds the bytes of only so many late copies: one stuck node neither blocks writes nor fills the memory',
    async (t) => {
      const cluster = await BlobCluster.start(t, 'x y z', { lateCopiesMax: 3, incomingPutsMax: 100 })
      const { blobs } = cluster.node('n1')
      cluster.node('n3').store.gate = () => new Promise(() => undefined)
      const late = () => blobs.metrics().find(({ name }) => name === 'holdfast_blob_late_copies')?.value
      for (let seed = 0; seed < 12; seed++) {
        t.strictSame((await cluster.write(sampleBlob(seed))).missing, ['n3'])
        t.ok((late() ?? 0) <= 3)
      }
      t.equal(late(), 3)
      await cluster.clock.advance(20_000)
      t.equal(late(), 0, 'the time-out ends them')
    },
  )

  t.test('passes slow_down of busy peers on', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z', { incomingPutsMax: 1, incomingWaitingMax: 0 })
    for (const peer of ['n2', 'n3']) {
      cluster.node(peer).store.gate = () => new Promise((resolve) => void cluster.clock.after(5_000, resolve))
    }
    const first = cluster.node('n1').blobs.write(sampleBlob(1))
    await cluster.clock.advance(100)
    await t.rejects(cluster.write(sampleBlob(2)), { code: 'slow_down' })
    t.equal((await cluster.clock.resolve(first, { limitMs: 10_000 })).replicas.length, 3)
  })
})

t.test('ReplicatedBlobs.copies', async (t) => {
  t.test('offers its own copy first, then its own zone, then the others, the unreachable last', async (t) => {
    const cluster = await BlobCluster.start(t, 'x x y y z')
    const { blobs } = cluster.node('n1')
    const blob = sampleBlob(1)
    const order = (replicas: string[]) => [...blobs.copies(refOf(blob, replicas))].map(({ nodeId }) => nodeId)
    t.strictSame(order(['n3', 'n2', 'n1']), ['n1', 'n2', 'n3'])
    t.strictSame(order(['n3', 'n2', 'n3']), ['n2', 'n3'])
    t.strictSame(order(['n3', 'gone', 'n2']), ['n2', 'n3'], 'a node that is no member cannot be asked')
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
    'says missing when a peer has no such copy, and unreachable when it breaks off in the middle',
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

  t.test('lets a reader that stops early leave nothing open', async (t) => {
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

  t.test(
    'quarantines a damaged copy where it lies, here or on a peer, and tells who is to drop it',
    async (t) => {
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
    },
  )

  t.test("never takes a good copy out of service on a reader's word", async (t) => {
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

  t.test('tells a missing copy, and nothing while the owner cannot be asked', async (t) => {
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

  t.test(
    'are refused when anything in the header is not what it should be, and nothing is stored',
    async (t) => {
      const bad: [string, unknown][] = [
        ['blob.put', null],
        ['blob.put', 'text'],
        ['blob.put', { ...good, id: '../../../../etc/passwd' }],
        ['blob.put', { ...good, birth: '..' }],
        ['blob.put', { ...good, size: -1 }],
        ['blob.put', { ...good, size: '1000' }],
        ['blob.put', { ...good, checksum: 'short' }],
        ['blob.get', { ...good, start: 2 }],
        ['blob.get', { ...good, end: 0.5 }],
        ['blob.get', { ...good, id: 7 }],
        ['blob.stat', { id: good.id }],
        ['blob.report', {}],
      ]
      for (const [method, header] of bad) {
        await t.rejects(call(method, header, method === 'blob.put' ? blob.bytes : undefined), {
          name: 'PeerRefusedError',
          code: 'blob_call_invalid',
        })
      }
      t.strictSame(await cluster.node('n2').store.list(null, 10), [])
    },
  )

  t.test('are refused when the bytes are not what the header says', async (t) => {
    await t.rejects(call('blob.put', good, blob.bytes.subarray(1)), { code: 'size_mismatch' })
    await t.rejects(call('blob.put', good, sampleBlob(2).bytes), { code: 'checksum_mismatch' })
    t.equal(await cluster.node('n2').store.stat(blob), null)
    await t.rejects(call('blob.stat', good), PeerRefusedError)
  })
})

t.test('a node that was away', async (t) => {
  t.test('gets every copy it missed from the others when it is back, and serves them', async (t) => {
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
      nodeId: 'n3',
      tasks: {
        pending: (target, limit) => [...rows.values()].slice(0, limit).map((ref) => ({ ref, target })),
        done: async ({ ref }) => void rows.delete(ref.birth),
      },
      store,
      blobs,
      clock: cluster.clock,
      logger: QUIET,
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
