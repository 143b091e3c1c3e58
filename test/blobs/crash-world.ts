/**
 * A blob store on a disk that loses power at a chosen call, and the verdict on what a start finds afterwards.
 *
 * Owns: which names must be present, which may be, and that no others are. Knows nothing of: files or packs; both kinds of store
 * are opened by a function. Rule: every acknowledged blob verifies, every listed blob verifies, no file is left behind.
 */
import assert from 'node:assert/strict'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { BlobLayout } from '../../cluster/blobs/files/blob-layout.ts'
import type { BlobStore } from '../../cluster/blobs/base/blob-store.ts'
import { type StoreParts } from '../../cluster/blobs/files/file-blob-store.ts'
import { FlushGuard } from '../../cluster/blobs/files/flush-guard.ts'
import { decodePlace } from '../../cluster/blobs/packs/index-rows.ts'
import { BlobMissingError } from '../../cluster/base/types.ts'
import { LOSE_ALL, MemoryFiles, type PowerCut } from '../wal/memory-files.ts'
import { collect, type SampleBlob } from './blob-samples.ts'
import { blobFilesOn } from './memory-blob-files.ts'
import { MemoryRows } from './memory-rows.ts'

export const ROOT = join('/', 'blobs')
const CHOICES_MAX = 2 ** 8

export interface OpenedStore {
  readonly store: Omit<BlobStore, 'usage'>
  /** A clean stop. */
  readonly close: () => Promise<void>
  /** True while there is more to do. */
  readonly compact: () => Promise<boolean>
}

export type StoreKind = (parts: StoreParts, rows: MemoryRows) => Promise<OpenedStore>

/** The guarantees about names. Names in neither set must be absent. */
export class Promised {
  readonly present = new Map<string, SampleBlob>()
  readonly possible = new Map<string, SampleBlob>()

  written(blob: SampleBlob): void {
    this.present.set(keyOf(blob), blob)
  }

  /** From here on it may be present or absent. */
  uncertain(blob: SampleBlob): void {
    this.present.delete(keyOf(blob))
    this.possible.set(keyOf(blob), blob)
  }

  /** It was removed, and the removal was acknowledged. */
  removed(blob: SampleBlob): void {
    this.possible.delete(keyOf(blob))
  }
}

export interface Disk {
  readonly files: MemoryFiles
  readonly rows: MemoryRows
}

export class PowerLoss extends Error {}

export interface Step {
  /** Names that may be present or absent while the step runs. */
  readonly touches: readonly SampleBlob[]
  /** Of these, the names that must be present when it has ended; the others stay uncertain. */
  readonly writes: readonly SampleBlob[]
  /** Of these, the names that must be absent. */
  readonly removes?: readonly SampleBlob[]
  readonly run: (opened: OpenedStore) => Promise<unknown>
}

/** `restart` stops the store first; `kill` does not, and the page cache survives. */
export type Script = readonly (Step | 'restart' | 'kill')[]

export interface Crash {
  readonly disk: Disk
  readonly promised: Promised
}

/** Runs the script until its n-th change of the disk; that change and every later one fail. Null when the script ended before. */
export async function crashAt(kind: StoreKind, script: Script, call: number): Promise<Crash | null> {
  const disk: Disk = { files: new MemoryFiles(), rows: new MemoryRows() }
  let changes = 0
  const spend = (): void => {
    if (++changes >= call) throw new PowerLoss()
  }
  disk.files.beforeChange = (operation, _count, path) => {
    spend()
    if (operation === 'unlink') assertNoLeaderReaches(path, disk.rows)
  }
  disk.rows.beforeWrite = spend
  const promised = new Promised()
  try {
    let opened = await openOn(kind, disk)
    for (const step of script) {
      if (step === 'restart') await opened.close()
      if (step === 'restart' || step === 'kill') opened = await openOn(kind, disk)
      if (step === 'restart') await assertNothingBack(opened, promised)
      else if (step !== 'kill') await runStep(opened, step, promised)
    }
    return null
  } catch (error) {
    if (changes < call) throw error
    // Other operations of the dead process fail now, not after the next process has started.
    await setImmediate()
    return { disk, promised }
  }
}

/** The rows are durable as they are, so a row that leads into a missing pack would be a lost copy after a crash. */
function assertNoLeaderReaches(path: string, { rows }: MemoryRows): void {
  const pack = new BlobLayout(ROOT).packOf(basename(path))
  if (pack === null) return
  const leading = [...rows].filter(([key, row]) => decodePlace(key, row)?.pack === pack)
  assert.deepEqual(
    leading.map(([key]) => key),
    [],
    'no row leads into a pack that is unlinked',
  )
}

/** Only a crash may restore a removed copy. */
async function assertNothingBack({ store }: OpenedStore, { present }: Promised): Promise<void> {
  const listed = await store.list(null, 1000)
  assert.deepEqual(
    listed.map(keyOf),
    [...present.keys()].sort(),
    'after a clean stop removed copies stay absent',
  )
}

async function runStep(opened: OpenedStore, step: Step, promised: Promised): Promise<void> {
  const settled = step.touches.filter((blob) => !promised.present.has(keyOf(blob)))
  for (const blob of step.touches) if (!step.writes.includes(blob)) promised.uncertain(blob)
  for (const blob of settled) promised.uncertain(blob)
  await step.run(opened)
  for (const blob of step.writes) promised.written(blob)
  for (const blob of step.removes ?? []) promised.removed(blob)
}

export async function openOn(kind: StoreKind, { files, rows }: Disk): Promise<OpenedStore> {
  const [layout, ops] = [new BlobLayout(ROOT), blobFilesOn(files)]
  await layout.prepare(ops)
  return kind({ layout, ops, guard: new FlushGuard(() => undefined) }, rows)
}

/** Every choice of unflushed sectors; a file without a name is kept whole or not at all. */
export function* cutsOf(files: MemoryFiles): Generator<PowerCut> {
  const { names, sectors } = files.unflushed()
  const isFree = (path: string): boolean => path.startsWith(ROOT) && !path.includes(`${join(ROOT, 'tmp')}/`)
  const free = sectors.flatMap((path, position) => (isFree(path) ? [position] : []))
  if (2 ** free.length > CHOICES_MAX)
    throw new Error(`${free.length} sectors are too many to try all choices`)
  for (let kept = 0; kept <= names; kept++) {
    for (let choice = 0; choice < 2 ** free.length; choice++) {
      for (const keepsLength of [false, true]) {
        const keeps = (position: number): boolean => {
          const bit = free.indexOf(position)
          return bit === -1 ? keepsLength : ((choice >> bit) & 1) === 1
        }
        yield { names: kept, keeps, keepsLength }
      }
    }
  }
}

/** Starts with "wrong" unless every guarantee holds: now, after another power cut, and after everything was removed again. */
export async function verdictOn(kind: StoreKind, disk: Disk, promised: Promised): Promise<string> {
  const first = await openOn(kind, disk)
  const found = await stateOf(first, promised)
  if (found.startsWith('wrong')) return found
  const cut: Disk = { files: disk.files.afterPowerCut(LOSE_ALL), rows: new MemoryRows(disk.rows.rows) }
  const second = await openOn(kind, cut)
  const again = await stateOf(second, promised)
  if (again !== found) return `wrong: a second start finds ${again} instead of ${found}`
  const names = await second.store.list(null, 1000)
  await second.store.remove(names)
  while (await second.compact());
  await second.close()
  await (await openOn(kind, cut)).close()
  const left = cut.files.paths().filter((path) => !path.includes('quarantine') || path.includes('.pack'))
  return left.length > 0 ? `wrong: ${left.join(' ')} is left behind` : found
}

async function stateOf({ store }: OpenedStore, { present, possible }: Promised): Promise<string> {
  for (const blob of present.values()) {
    const fault = await faultOf(store, blob)
    if (fault !== null) return `wrong: acknowledged ${blob.birth} ${fault}`
  }
  const listed = await store.list(null, 1000)
  for (const name of listed) {
    const blob = present.get(keyOf(name)) ?? possible.get(keyOf(name))
    if (blob === undefined) return `wrong: ${name.birth} was never written`
    const fault = await faultOf(store, blob)
    if (fault !== null) return `wrong: listed ${name.birth} ${fault}`
  }
  const more = listed.length - present.size
  return more < 0 ? 'wrong: not everything is listed' : `what was acknowledged and ${more} more`
}

async function faultOf(store: OpenedStore['store'], blob: SampleBlob): Promise<string | null> {
  try {
    await store.verify(blob)
    const bytes = await collect(store.read(blob, 0, blob.size))
    return Buffer.from(bytes).equals(blob.bytes) ? null : 'has other bytes'
  } catch (error) {
    if (error instanceof BlobMissingError) return 'is missing'
    return error instanceof Error ? error.message : 'cannot be read'
  }
}

function keyOf({ id, birth }: { readonly id: string; readonly birth: string }): string {
  return `${id}.${birth}`
}
