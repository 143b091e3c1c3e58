/**
 * Proofs of replicated writes over a network that fails: which nodes hold a copy afterwards, when a write is answered, when it
 * is refused, and how much of it is held in memory.
 */
import t from 'tap'
import { BlobCluster } from './blob-cluster.ts'
import { sampleBlob } from './blob-samples.ts'

t.test('ReplicatedBlobs.nextSession', async (t) => {
  t.test('is a valid prefix of births, and differs every time and between nodes', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const sessions = [...cluster.nodes.values()].flatMap(({ blobs }) =>
      [1, 2, 3].map(() => blobs.nextSession()),
    )
    t.equal(new Set(sessions).size, 9)
    for (const session of sessions) t.match(session, /^[0-9a-f]{24}$/)
  })
})

t.test('ReplicatedBlobs.write', async (t) => {
  t.test('puts the same bytes on three nodes, whichever node writes', async (t) => {
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
      t.ok(cluster.clock.now() - before < 10, 'a node known to be down causes no wait')
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
      t.equal((await cluster.write(sampleBlob(4))).replicas.length >= 2, true, 'no cool-down delays it')
    },
  )

  t.test('counts a node that refuses as failed: a full disk holds no copy', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    cluster.node('n2').store.gate = () => Promise.reject(new Error('the disk is full'))
    const { replicas, missing } = await cluster.write(sampleBlob(1))
    t.strictSame([[...replicas].sort(), missing], [['n1', 'n3'], ['n2']])
    cluster.node('n1').store.gate = () => Promise.reject(new Error('the disk is full'))
    await t.rejects(cluster.write(sampleBlob(2)), { code: 'not_enough_replicas' })
  })

  t.test('does not wait for a slow third copy beyond the grace; it becomes durable later', async (t) => {
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
    'hands a copy to another member when a preferred one of five is down, and contacts no more',
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

  t.test('does not call a hanging node for a while, and uses it again as soon as it answers', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z')
    const { store } = cluster.node('n3')
    const duration = async (seed: number) => {
      const before = cluster.clock.now()
      const { replicas } = await cluster.write(sampleBlob(seed))
      return { copies: replicas.length, ms: cluster.clock.now() - before }
    }
    store.gate = () => new Promise(() => undefined)
    t.ok((await duration(1)).ms >= 150, 'no node knows yet')
    await cluster.clock.advance(9_900)
    const known = await duration(2)
    t.ok(known.ms < 10, `${known.ms} ms`)
    store.gate = async () => undefined
    await cluster.clock.advance(1_000)
    t.equal((await duration(3)).copies, 3)
    t.equal((await duration(4)).copies, 3)
  })

  t.test('reports to the caller when the bytes do not match its checksum', async (t) => {
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
  t.test('bounds running and waiting writes, and refuses the rest with slow_down at once', async (t) => {
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
    'holds the bytes of a bounded number of late copies: one stuck node neither blocks writes nor fills the memory',
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

  t.test(
    'queues a bounded number of copies for its own disk when that hangs, and continues with the other nodes',
    async (t) => {
      const cluster = await BlobCluster.start(t, 'x y z', { writesMax: 3, lateCopiesMax: 2 })
      let held = 0
      cluster.node('n1').store.gate = () => {
        held++
        return new Promise(() => undefined)
      }
      for (let seed = 0; seed < 12; seed++)
        t.strictSame((await cluster.write(sampleBlob(seed))).missing, ['n1'])
      t.equal(held, 5)
    },
  )

  t.test('gives the slot of a finished copy to the next one', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z', { incomingPutsMax: 1, incomingWaitingMax: 0 })
    for (const seed of [1, 2, 3]) t.equal((await cluster.write(sampleBlob(seed))).replicas.length, 3)
    await t.rejects(cluster.write({ ...sampleBlob(4), checksum: sampleBlob(5).checksum }))
    t.equal((await cluster.write(sampleBlob(4))).replicas.length, 3, 'also of one that failed')
  })

  t.test('passes on slow_down from busy peers', async (t) => {
    const cluster = await BlobCluster.start(t, 'x y z', { incomingPutsMax: 1, incomingWaitingMax: 0 })
    for (const peer of ['n2', 'n3']) {
      cluster.node(peer).store.gate = () => new Promise((resolve) => void cluster.clock.after(5_000, resolve))
    }
    // Of this size each is a call of its own; small ones wait for each other here, and ask the peer once.
    const [one, two] = [sampleBlob(1, 300_000), sampleBlob(2, 300_000)]
    const first = cluster.node('n1').blobs.write(one)
    await cluster.clock.advance(100)
    await t.rejects(cluster.write(two), { code: 'slow_down' })
    t.equal((await cluster.clock.resolve(first, { limitMs: 10_000 })).replicas.length, 3)
  })
})
