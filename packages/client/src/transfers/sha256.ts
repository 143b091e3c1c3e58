/**
 * SHA-256 of bytes that arrive in pieces. [FIPS 180-4]
 *
 * Web Crypto digests only what is complete, and WebAssembly may not be compiled everywhere: this is plain arithmetic.
 */
import type { RunningDigest } from './digests.ts'

const BLOCK = 64
/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const K: Uint32Array = Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)))
/** Those of the square roots of the first eight. */
const START: Uint32Array = Uint32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)))

function primes(count: number): readonly number[] {
  const found: number[] = []
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n)
  return found
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32)
}

export class Sha256 implements RunningDigest {
  readonly #state: Uint32Array = START.slice()
  readonly #words: Uint32Array = new Uint32Array(BLOCK)
  readonly #held: Uint8Array = new Uint8Array(BLOCK)
  #heldBytes = 0
  #bytes = 0

  update(piece: Uint8Array): void {
    this.#bytes += piece.length
    let at = 0
    if (this.#heldBytes > 0) {
      at = Math.min(BLOCK - this.#heldBytes, piece.length)
      this.#held.set(piece.subarray(0, at), this.#heldBytes)
      this.#heldBytes += at
      if (this.#heldBytes < BLOCK) return
      this.#block(this.#held, 0)
    }
    for (; at + BLOCK <= piece.length; at += BLOCK) this.#block(piece, at)
    this.#held.set(piece.subarray(at))
    this.#heldBytes = piece.length - at
  }

  digest(): Uint8Array {
    const bits = this.#bytes * 8
    const padding = new Uint8Array((this.#heldBytes < 56 ? 56 : 120) - this.#heldBytes + 8)
    padding[0] = 0x80
    const view = new DataView(padding.buffer)
    view.setUint32(padding.length - 8, Math.floor(bits / 2 ** 32))
    view.setUint32(padding.length - 4, bits >>> 0)
    this.update(padding)
    const out = new DataView(new ArrayBuffer(32))
    this.#state.forEach((word, n) => out.setUint32(n * 4, word))
    return new Uint8Array(out.buffer)
  }

  #block(bytes: Uint8Array, at: number): void {
    const w = this.#words
    const s = this.#state
    for (let n = 0; n < 16; n++) {
      const i = at + n * 4
      w[n] = (bytes[i]! << 24) | (bytes[i + 1]! << 16) | (bytes[i + 2]! << 8) | bytes[i + 3]!
    }
    for (let n = 16; n < BLOCK; n++) {
      const [x, y] = [w[n - 15]!, w[n - 2]!]
      const sigma0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const sigma1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      w[n] = (w[n - 16]! + sigma0 + w[n - 7]! + sigma1) | 0
    }
    let a = s[0]!
    let b = s[1]!
    let c = s[2]!
    let d = s[3]!
    let e = s[4]!
    let f = s[5]!
    let g = s[6]!
    let h = s[7]!
    for (let n = 0; n < BLOCK; n++) {
      const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const one = (h + sum1 + ((e & f) ^ (~e & g)) + K[n]! + w[n]!) | 0
      const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const two = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + one) | 0
      d = c
      c = b
      b = a
      a = (one + two) | 0
    }
    s[0]! += a
    s[1]! += b
    s[2]! += c
    s[3]! += d
    s[4]! += e
    s[5]! += f
    s[6]! += g
    s[7]! += h
  }
}
