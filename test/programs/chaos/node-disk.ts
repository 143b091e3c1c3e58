/**
 * The disk of one host: a small file system of its own, which can be filled and emptied.
 *
 * Rule: nothing here is on a disk of the machine; it is memory that ends with the run.
 */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { DiskFaults } from '../../helpers/disk-faults.ts'
import { runCommand } from './run-command.ts'

const BLOBS = 'blobs'
const BALLAST_PIECE = Buffer.alloc(1024 * 1024)
const PIECES_MAX = 100_000

export class NodeDisk {
  readonly dataDir: string
  /** What the node is made to believe of it, by helpers/disk-faults.ts. */
  readonly faultsFile: string
  /** In memory of the host: it outlives the process and the data on the disk, but not the host. */
  readonly witnessDir: string
  readonly #mount: string
  readonly #ballast: string
  /** Beside the disk, which may have no space for a second directory. */
  readonly #aside: string

  private constructor(mount: string) {
    this.dataDir = join(mount, 'data')
    this.faultsFile = `${mount}.faults`
    this.#mount = mount
    this.#ballast = join(mount, 'ballast')
    this.#aside = `${mount}.aside`
    this.witnessDir = `${mount}.witnesses`
  }

  static async mount(path: string, bytes: number): Promise<NodeDisk> {
    mkdirSync(path, { recursive: true })
    await runCommand(['mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', path])
    const disk = new NodeDisk(path)
    mkdirSync(disk.witnessDir)
    return disk
  }

  get #blobs(): string {
    return join(this.dataDir, BLOBS)
  }

  /** Up to the last byte. A node that runs may free space meanwhile: that is filled in large pieces again. */
  async fill(): Promise<void> {
    const file = await open(this.#ballast, 'w')
    try {
      let length = BALLAST_PIECE.length
      for (let pieces = 0; length >= 1 && pieces < PIECES_MAX; pieces += 1) {
        const isWritten = await hasRoom(() => file.write(BALLAST_PIECE, 0, length))
        length = isWritten ? Math.min(16 * length, BALLAST_PIECE.length) : Math.floor(length / 16)
      }
    } finally {
      await file.close()
    }
  }

  free(): void {
    rmSync(this.#ballast, { force: true })
  }

  /** Replaces the faults of the disk. */
  fails(faults: DiskFaults): void {
    writeFileSync(this.faultsFile, JSON.stringify(faults))
  }

  /** Every copy on it is gone; the node must not run. */
  loseCopies(): void {
    for (const name of readdirSync(this.#blobs)) rmSync(join(this.#blobs, name), { recursive: true })
  }

  /** As if the machine had burned; the node must not run. */
  loseEverything(): void {
    rmSync(this.dataDir, { recursive: true })
  }

  /** A copy of all but the copies of chunks, which come back by repair; the node must stand still. */
  copyAside(): void {
    rmSync(this.#aside, { recursive: true, force: true })
    mkdirSync(this.#aside)
    for (const entry of readdirSync(this.dataDir, { withFileTypes: true }))
      if (entry.name !== BLOBS && !entry.isSocket())
        cpSync(join(this.dataDir, entry.name), join(this.#aside, entry.name), { recursive: true })
  }

  /** That copy is in its place; the node must not run. `isSeen`: the witness has seen later flushes of its log. */
  goBack(isSeen: boolean): void {
    for (const name of readdirSync(this.dataDir))
      if (name !== BLOBS) rmSync(join(this.dataDir, name), { recursive: true })
    cpSync(this.#aside, this.dataDir, { recursive: true })
    rmSync(this.#aside, { recursive: true })
    if (!isSeen) for (const name of readdirSync(this.witnessDir)) rmSync(join(this.witnessDir, name))
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
