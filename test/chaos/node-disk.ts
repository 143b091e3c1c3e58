/**
 * The disk of one host: a small file system of its own, which can be filled and emptied.
 *
 * Rule: nothing here is on a disk of the machine; it is memory that ends with the run.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'

const BALLAST_PIECE = Buffer.alloc(1024 * 1024)

export class NodeDisk {
  readonly dataDir: string
  readonly #mount: string
  readonly #ballast: string

  private constructor(mount: string) {
    this.dataDir = join(mount, 'data')
    this.#mount = mount
    this.#ballast = join(mount, 'ballast')
  }

  static async mount(path: string, bytes: number): Promise<NodeDisk> {
    mkdirSync(path, { recursive: true })
    await runCommand(['mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', path])
    return new NodeDisk(path)
  }

  /** Up to the last byte. */
  async fill(): Promise<void> {
    const file = await open(this.#ballast, 'w')
    try {
      for (let length = BALLAST_PIECE.length; length >= 1; )
        // A smaller piece may still fit.
        if (!(await hasRoom(() => file.write(BALLAST_PIECE, 0, length)))) length = Math.floor(length / 16)
    } finally {
      await file.close()
    }
  }

  free(): void {
    rmSync(this.#ballast, { force: true })
  }

  /** Every copy on it is gone; the node must not run. */
  loseCopies(): void {
    const blobs = join(this.dataDir, 'blobs')
    for (const name of readdirSync(blobs)) rmSync(join(blobs, name), { recursive: true })
  }

  /** As if the machine had burned; the node must not run. */
  loseEverything(): void {
    rmSync(this.dataDir, { recursive: true })
  }

  /** Gives its memory back. */
  async unmount(): Promise<void> {
    await runCommand(['umount', this.#mount])
  }
}

async function hasRoom(write: () => Promise<{ readonly bytesWritten: number }>): Promise<boolean> {
  try {
    return (await write()).bytesWritten > 0
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false
    throw error
  }
}
