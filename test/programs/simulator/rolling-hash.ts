/**
 * One number for everything that happened so far, in order.
 *
 * Rule: equal runs give equal numbers; any difference changes it permanently.
 */
import { crc32c } from '@node-rs/crc32'

export class RollingHash {
  #low = 0x2545f491
  #high = 0x9e3779b9

  add(value: number): void {
    this.#low = Math.imul(this.#low ^ value, 0x85ebca6b)
    this.#low ^= this.#low >>> 13
    this.#high = (Math.imul(this.#high, 0xc2b2ae35) + this.#low) | 0
  }

  addBytes(bytes: Uint8Array): void {
    this.add(crc32c(bytes))
  }

  addText(text: string): void {
    this.add(textHash(text))
  }

  get hex(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
  }
}

export function textHash(text: string, seed = 0x811c9dc5): number {
  let hash = seed
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix(hash)
}

export function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
  return mixed ^ (mixed >>> 15)
}
