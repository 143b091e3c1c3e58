/**
 * The status of a node as a frame: what its requests of one turn claim, beside the names that the connection has proved.
 *
 * Owns: the bytes, six numbers of eight bytes. Pure. Rule: -1 stands for a number that is not reported; anything that is not a
 * whole number from -1 to 2^53 - 1 is refused.
 */
import { MalformedFrameError } from './msgpack-guard.ts'
import type { PeerStatus } from './peer-identity.ts'

const NUMBERS = 6
const NUMBER_BYTES = 8
const ABSENT = -1

/** What changes while a process runs. */
export type LiveStatus = Omit<PeerStatus, 'boot' | 'before'>

export function encodeStatus({
  recoveryEpoch,
  featureLevel,
  stateLevel,
  appliedIndex,
  clock,
}: LiveStatus): Buffer {
  const bytes = Buffer.allocUnsafe(NUMBERS * NUMBER_BYTES)
  const numbers = [
    recoveryEpoch,
    featureLevel,
    stateLevel,
    appliedIndex ?? ABSENT,
    clock?.wall ?? ABSENT,
    clock?.majority ?? ABSENT,
  ]
  for (const [i, number] of numbers.entries()) bytes.writeDoubleBE(number, i * NUMBER_BYTES)
  return bytes
}

/** Throws MalformedFrameError. */
export function decodeStatus(bytes: Buffer): LiveStatus {
  if (bytes.length !== NUMBERS * NUMBER_BYTES)
    throw new MalformedFrameError(`A status has ${NUMBERS * NUMBER_BYTES} bytes, not ${bytes.length}`)
  const wall = optional(bytes, 4)
  return {
    recoveryEpoch: count(bytes, 0),
    featureLevel: count(bytes, 1),
    stateLevel: count(bytes, 2),
    appliedIndex: optional(bytes, 3),
    clock: wall === null ? null : { wall, majority: optional(bytes, 5) },
  }
}

function optional(bytes: Buffer, at: number): number | null {
  return bytes.readDoubleBE(at * NUMBER_BYTES) === ABSENT ? null : count(bytes, at)
}

function count(bytes: Buffer, at: number): number {
  const number = bytes.readDoubleBE(at * NUMBER_BYTES)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new MalformedFrameError('A number of a status is not a count')
}
