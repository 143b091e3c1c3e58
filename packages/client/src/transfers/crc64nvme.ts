/**
 * CRC64NVME of bytes that arrive in pieces: the polynomial of NVM Express, reflected, in halves of 32 bits.
 */
import type { RunningDigest } from './digests.ts'

const POLYNOMIAL_HIGH = 0x9a6c9329
const POLYNOMIAL_LOW = 0xac4bc9b5
const HIGH = new Uint32Array(256)
const LOW = new Uint32Array(256)
for (let n = 0; n < 256; n++) {
  let high = 0
  let low = n
  for (let bit = 0; bit < 8; bit++) {
    const isOdd = (low & 1) === 1
    low = (low >>> 1) | (high << 31)
    high >>>= 1
    if (isOdd) {
      high ^= POLYNOMIAL_HIGH
      low ^= POLYNOMIAL_LOW
    }
  }
  HIGH[n] = high
  LOW[n] = low
}

export class Crc64Nvme implements RunningDigest {
  #high = 0xffffffff
  #low = 0xffffffff

  update(piece: Uint8Array): void {
    let high = this.#high
    let low = this.#low
    for (const byte of piece) {
      const n = (low ^ byte) & 0xff
      low = ((low >>> 8) | (high << 24)) ^ LOW[n]!
      high = (high >>> 8) ^ HIGH[n]!
    }
    this.#high = high
    this.#low = low
  }

  digest(): Uint8Array {
    const out = new DataView(new ArrayBuffer(8))
    out.setUint32(0, ~this.#high)
    out.setUint32(4, ~this.#low)
    return new Uint8Array(out.buffer)
  }
}
