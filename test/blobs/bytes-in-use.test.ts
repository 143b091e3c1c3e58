/**
 * Bytes are reported as spent once, when every started copy is durable; never while a copy is in progress or after one failed.
 */
import t from 'tap'
import { BytesInUse } from '../../cluster/blobs/files/bytes-in-use.ts'
import { deferred } from '../helpers/async.ts'
import { BlobCluster } from './blob-cluster.ts'
import { sampleBlob } from './blob-samples.ts'

t.test('BytesInUse', async (t) => {
  t.test('reports the end of the last copy, although the write was answered earlier', async (t) => {
    const [write, late] = [deferred(), deferred()]
    let spent = 0
    const users = new BytesInUse(() => spent++)
    const all = [users.until(write.promise), users.until(late.promise)]
    write.resolve()
    await all[0]
    t.equal(spent, 0)
    late.resolve()
    await all[1]
    t.equal(spent, 1)
  })

  t.test('reports nothing when a copy failed, because it may still be in flight', async (t) => {
    let spent = 0
    const users = new BytesInUse(() => spent++)
    const write = deferred()
    const all = users.until(write.promise)
    await t.rejects(users.until(Promise.reject(new Error('timed out'))), { message: 'timed out' })
    write.resolve()
    await all
    t.equal(spent, 0)
  })
})

t.test('a write of blobs', async (t) => {
  const cluster = await BlobCluster.start(t, 'x y z')
  const write = async (seed: number): Promise<number> => {
    let spent = 0
    const blob = { ...sampleBlob(seed, 700_000), onSpent: () => void spent++ }
    await cluster.clock.resolve(cluster.node('n1').blobs.write(blob), { limitMs: 60_000 })
    return spent
  }
  t.equal(await write(1), 1, 'three durable copies')
  await cluster.node('n3').transport.stop()
  t.equal(await write(2), 0, 'one of three nodes does not answer')
})
