/**
 * A store of files in a temporary directory, for tests: opened with any file operations, and damaged by hand.
 */
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type FileOps, systemFileOps } from '../../cluster/base/file-ops.ts'
import type { BlobName } from '../../cluster/base/types.ts'
import { BlobLayout } from '../../cluster/blobs/files/blob-layout.ts'
import { FileBlobStore } from '../../cluster/blobs/files/file-blob-store.ts'
import { FlushGuard } from '../../cluster/blobs/files/flush-guard.ts'

export async function directoryOf(t: Test): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'holdfast-blobs-'))
  t.teardown(() => rm(parent, { recursive: true, force: true }))
  return join(parent, 'blobs')
}

export async function openStore(
  directory: string,
  options: { fileOps?: FileOps; onFatal?: (error: Error) => void; directIoFromBytes?: number } = {},
) {
  const { directIoFromBytes = 1024 * 1024 } = options
  const onFatal = options.onFatal ?? ((error: Error) => assert(error))
  const [layout, ops] = [new BlobLayout(directory), options.fileOps ?? systemFileOps]
  await layout.prepare(ops)
  return new FileBlobStore({ layout, ops, guard: new FlushGuard(onFatal), directIoFromBytes })
}

function assert(error: Error): never {
  throw error
}

export function pathOf(directory: string, { id, birth }: BlobName): string {
  return join(directory, id.slice(0, 2), `${id}.${birth}`)
}

export async function flipBit(path: string, at: number): Promise<void> {
  const file = await open(path, 'r+')
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at)
  await file.write(Buffer.of((buffer[0] ?? 0) ^ 4), 0, 1, at)
  await file.close()
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code })
}
