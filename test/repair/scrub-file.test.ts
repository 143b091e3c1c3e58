/**
 * Proofs of the file with the position of a scrub: it is used only when it is complete.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemFileOps } from '../../cluster/base/file-ops.ts'
import { ScrubFile, type ScrubMark } from '../../cluster/repair/scrub-file.ts'
import { sampleBlob } from '../blobs/blob-samples.ts'

const { id, birth } = sampleBlob(1)
const MARK: ScrubMark = {
  startedAt: 1_767_225_600_000,
  lastFullAt: 1_767_000_000_000,
  after: { id, birth },
  isOver: false,
  demand: 'op_1',
  passed: { copies: 7, bytes: 700, lost: 1 },
  answered: { word: 'op_0', copies: 6, bytes: 600, lost: 0 },
}

async function pathFor(t: Test): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-scrub-'))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  return join(root, 'scrub.json')
}

t.test('ScrubFile', async (t) => {
  t.test('returns the last written mark, and null without a file', async (t) => {
    const path = await pathFor(t)
    const file = new ScrubFile(path)
    t.equal(await file.read(), null)
    await file.write({ ...MARK, after: null, lastFullAt: null, isOver: true })
    t.strictSame(await file.read(), { ...MARK, after: null, lastFullAt: null, isOver: true })
    await file.write(MARK)
    t.strictSame(await new ScrubFile(path).read(), MARK)
  })

  t.test('counts as absent with any byte changed and with any other length', async (t) => {
    const path = await pathFor(t)
    const file = new ScrubFile(path)
    await file.write(MARK)
    const whole = await readFile(path)
    for (let at = 0; at < whole.length - 1; at++) {
      const flipped = Buffer.from(whole)
      flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at)
      await writeFile(path, flipped)
      t.equal(await file.read(), null, `byte ${at}`)
    }
    for (let length = 0; length < whole.length - 1; length += 7) {
      await writeFile(path, whole.subarray(0, length))
      t.equal(await file.read(), null, `${length} bytes`)
    }
  })

  t.test('keeps the old position when a write stops at any step, and can be written again', async (t) => {
    const path = await pathFor(t)
    await new ScrubFile(path).write(MARK)
    const later = { ...MARK, after: { id, birth: 'later' } }
    for (const step of ['create', 'append', 'syncFile', 'rename'] as const) {
      const dies = async (): Promise<never> => {
        throw new Error('power cut')
      }
      await t.rejects(new ScrubFile(path, { ...systemFileOps, [step]: dies }).write(later), /power cut/)
      t.strictSame(await new ScrubFile(path).read(), MARK, step)
    }
    await new ScrubFile(path).write(later)
    t.strictSame(await new ScrubFile(path).read(), later)
  })

  t.test('is flushed before it replaces the old one, and its directory afterwards', async (t) => {
    const path = await pathFor(t)
    const steps: string[] = []
    const file = new ScrubFile(path, {
      ...systemFileOps,
      syncFile: (handle) => (steps.push('sync file'), systemFileOps.syncFile(handle)),
      rename: (from, to) => (steps.push('rename'), systemFileOps.rename(from, to)),
      syncDirectory: (dir) => (steps.push('sync directory'), systemFileOps.syncDirectory(dir)),
    })
    await file.write(MARK)
    t.strictSame(steps, ['sync file', 'rename', 'sync directory'])
  })
})
