/** The proof that a data directory is the newest of its node, on real files. */
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { declareCurrent, DiskProofFile, notedState } from '../../cluster/raft-half/disk-proof-file.ts'
import { FlushWitness, readWitness } from '../../cluster/wal/flush-witness.ts'
import type { DiskTrust } from '../../cluster/raft/types.ts'
import { SILENT } from '../helpers/loggers.ts'

const NOTHING_LOST = { lastBatch: 7, hasLostTail: false }

class Place {
  readonly root: string
  readonly dataDir: string
  readonly witnessDir: string
  readonly hostBootFile: string

  constructor(t: { teardown(callback: () => void): unknown }) {
    this.root = mkdtempSync(join(tmpdir(), 'holdfast-proof-'))
    t.teardown(() => rmSync(this.root, { recursive: true, force: true }))
    this.dataDir = join(this.root, 'n1')
    this.witnessDir = this.root
    this.hostBootFile = join(this.root, 'boot_id')
    writeFileSync(this.hostBootFile, 'host 1\n')
    cpSync(mkdtempSync(join(this.root, 'empty-')), this.dataDir, { recursive: true })
  }

  open(): Promise<DiskProofFile> {
    const { dataDir, witnessDir, hostBootFile } = this
    return DiskProofFile.open({ dataDir, witnessDir, hostBootFile, incarnation: 'one', logger: SILENT })
  }

  async judged(findings: Parameters<DiskProofFile['judge']>[0] = NOTHING_LOST): Promise<DiskTrust> {
    return (await this.open()).judge(findings)
  }

  async confirmed(): Promise<DiskProofFile> {
    const proof = await this.open()
    await proof.judge(NOTHING_LOST)
    await proof.confirm()
    return proof
  }

  /** Replaces the directory by another one with the same bytes. */
  replaceByCopy(): void {
    cpSync(this.dataDir, join(this.root, 'copy'), { recursive: true })
    renameSync(this.dataDir, join(this.root, 'former'))
    renameSync(join(this.root, 'copy'), this.dataDir)
  }

  restartHost(): void {
    writeFileSync(this.hostBootFile, 'host 2\n')
  }
}

t.test('a directory is proved current', async (t) => {
  t.test('after kill -9 on a host that keeps running', async (t) => {
    const place = new Place(t)
    await place.confirmed()
    t.equal(await place.judged(), 'proved')
    t.equal(await place.judged(), 'proved', 'and again')
  })

  t.test('after a clean stop, also when the host was restarted', async (t) => {
    const place = new Place(t)
    const proof = await place.confirmed()
    await proof.stopped()
    place.restartHost()
    t.equal(await place.judged(), 'proved')
    place.restartHost()
  })

  t.test('when an operator confirms it', async (t) => {
    const place = new Place(t)
    t.equal(await place.judged(), 'suspect')
    t.equal(await notedState(place.dataDir), 'suspect')
    await declareCurrent(place.dataDir)
    t.equal(await place.judged(), 'proved')
  })
})

t.test('a directory is suspect', async (t) => {
  t.test('when nothing is known about it', async (t) => {
    t.equal(await new Place(t).judged(), 'suspect')
  })

  t.test('after a restart of the host without a clean stop', async (t) => {
    const place = new Place(t)
    await place.confirmed()
    place.restartHost()
    t.equal(await place.judged(), 'suspect')
    t.equal(await place.judged(), 'suspect', 'the next process on this host is suspect too')
    await place.confirmed()
    t.equal(await place.judged(), 'proved', 'until one has caught up')
  })

  t.test('when the clean stop was that of the process before the last', async (t) => {
    const place = new Place(t)
    const proof = await place.confirmed()
    await proof.stopped()
    t.equal(await place.judged(), 'proved')
    place.restartHost()
    t.equal(await place.judged(), 'suspect')
  })

  t.test('when it is a copy, stopped cleanly or not', async (t) => {
    const place = new Place(t)
    const proof = await place.confirmed()
    await proof.stopped()
    place.replaceByCopy()
    t.equal(await place.judged(), 'suspect')
  })

  t.test('when its proof is damaged', async (t) => {
    const place = new Place(t)
    await place.confirmed()
    writeFileSync(join(place.dataDir, 'disk-proof.json'), '{}\n')
    t.equal(await place.judged(), 'suspect')
  })
})

t.test('a directory is rolled back', async (t) => {
  t.test(
    'when the witness recorded a flush that the log does not hold, and stays so until it is confirmed',
    async (t) => {
      const place = new Place(t)
      const { witness } = await place.confirmed()
      const reported = new FlushWitness(witness)
      reported.record(9)
      t.equal(await place.judged(), 'rolledBack')
      reported.record(7)
      reported.close()
      t.equal(await place.judged(), 'rolledBack')
      await place.confirmed()
      t.equal(await place.judged(), 'proved')
    },
  )

  t.test('when its log has lost its end', async (t) => {
    const place = new Place(t)
    await place.confirmed()
    t.equal(await place.judged({ lastBatch: 7, hasLostTail: true }), 'rolledBack')
  })
})

t.test('a witness', async (t) => {
  t.test('that is torn, missing or a link is ignored', async (t) => {
    const place = new Place(t)
    const { witness } = await place.confirmed()
    const path = witness ?? ''
    t.equal(readWitness(path), null)
    writeFileSync(path, Buffer.alloc(16, 1))
    t.equal(readWitness(path), null)
    t.equal(readWitness(join(path, 'nowhere')), null)
    t.equal(readdirSync(place.root).filter((name) => name.endsWith('.flushed')).length, 1)
  })
})
