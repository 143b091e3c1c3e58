/**
 * Proofs of the verdict on a copy of this node: made by its owner, under the copy's lock, and reported.
 */
import t from 'tap'
import type { CopyVerdict } from '../../cluster/blobs/base/blob-calls.ts'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { LocalBlobs } from '../../cluster/blobs/disk/local-blobs.ts'
import { deferred } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { sampleBlob, streamOf } from './blob-samples.ts'
import { MemoryBlobStore } from './memory-blob-store.ts'

function bench() {
  const [store, locks, verdicts] = [new MemoryBlobStore(), new CopyLocks(), [] as CopyVerdict[]]
  const onJudged = (verdict: CopyVerdict): void => void verdicts.push(verdict)
  return { store, locks, verdicts, local: new LocalBlobs({ store, locks, logger: SILENT, onJudged }) }
}

t.test('LocalBlobs', async (t) => {
  t.test('reports each verdict', async (t) => {
    const { store, local, verdicts } = bench()
    const [good, damaged] = [sampleBlob(1), sampleBlob(2)]
    for (const blob of [good, damaged]) await store.write(blob, streamOf(blob.bytes), blob)
    await store.damage(damaged)
    for (const blob of [good, damaged, damaged]) await local.judge(blob)
    t.strictSame(verdicts, ['good', 'damaged', 'missing'])
    t.equal(local.counts.damaged, 1)
  })

  t.test('does not quarantine a good copy that was made while the verdict waited', async (t) => {
    const { store, locks, local } = bench()
    const blob = sampleBlob(1)
    await store.write(blob, streamOf(blob.bytes), blob)
    await store.damage(blob)
    const made = deferred()
    const copier = locks.hold(blob, async () => {
      await made.promise
      await store.write(blob, streamOf(blob.bytes), blob)
    })
    const verdict = local.judge(blob)
    made.resolve()
    await copier
    t.equal(await verdict, 'good')
    t.not(await store.stat(blob), null)
  })
})
