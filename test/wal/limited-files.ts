/**
 * A disk in memory with little space.
 */
import { MemoryFiles } from './memory-files.ts'

export class LimitedFiles extends MemoryFiles {
  readonly capacity: number
  readonly code: string

  constructor(capacity: number, code = 'ENOSPC') {
    super()
    this.capacity = capacity
    this.code = code
  }

  /** Writes as much as there is space for; without any space it fails. */
  override write(fd: number, bytes: Uint8Array, position: number): number {
    const before = this.lengthOf(fd)
    const growth = Math.max(0, position + bytes.byteLength - before)
    const room = this.capacity - this.used()
    if (growth > 0 && room <= 0) throw this.#full('write')
    const fitting = growth <= room ? bytes.byteLength : before + room - position
    return super.write(fd, bytes.subarray(0, fitting), position)
  }

  override create(path: string): number {
    // A name takes space as well.
    if (this.used() >= this.capacity) throw this.#full('open')
    return super.create(path)
  }

  override freeBytes(): number {
    return Math.max(0, this.capacity - this.used())
  }

  used(): number {
    return this.paths().reduce((sum, path) => sum + this.size(path), 0)
  }

  #full(call: string): Error {
    return Object.assign(new Error(`${this.code}: no space left on device, ${call}`), { code: this.code })
  }
}
