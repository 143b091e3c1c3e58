/**
 * The file operations of the spool, as a port.
 *
 * Owns: the calls to the operating system. Rule: bytes are durable after `sync`, a name after `syncDir`.
 */
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { syncDirectory } from '../../cluster/index.ts'

export interface SpoolFile {
  write(bytes: Uint8Array, position: number): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

export interface SpoolFiles {
  makeDir(dir: string): Promise<void>
  list(dir: string): Promise<readonly string[]>
  size(path: string): Promise<number>
  /** The bytes from `position` on, at most `bytesMax`. */
  read(path: string, position: number, bytesMax: number): Promise<Buffer>
  /** Fails if the file exists. */
  create(path: string): Promise<SpoolFile>
  unlink(path: string): Promise<void>
  syncDir(dir: string): Promise<void>
}

export const nodeSpoolFiles: SpoolFiles = {
  makeDir: async (dir) => void (await mkdir(dir, { recursive: true, mode: 0o700 })),
  list: (dir) => readdir(dir),
  size: async (path) => (await stat(path)).size,
  read,
  create,
  unlink: (path) => rm(path),
  syncDir: syncDirectory,
}

async function read(path: string, position: number, bytesMax: number): Promise<Buffer> {
  const handle = await open(path, 'r')
  try {
    const bytes = Buffer.allocUnsafe(bytesMax)
    let filled = 0
    for (;;) {
      const { bytesRead } = await handle.read(bytes, filled, bytesMax - filled, position + filled)
      filled += bytesRead
      if (bytesRead === 0 || filled === bytesMax) return bytes.subarray(0, filled)
    }
  } finally {
    await handle.close()
  }
}

async function create(path: string): Promise<SpoolFile> {
  const handle = await open(path, 'wx', 0o600)
  return {
    async write(bytes, position) {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
        done += bytesWritten
      }
    },
    sync: () => handle.datasync(),
    close: () => handle.close(),
  }
}
