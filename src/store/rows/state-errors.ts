/**
 * What an error of LevelDB means: damage of the state, or a machine that refuses its service.
 *
 * Owns: the distinction. Knows nothing of: what is done about either.
 * Rule: a full disk or a missing permission never counts as damage, for then a good state would be given up; whatever
 * else keeps a state from being read does.
 */
import { StateDamagedError } from '../../../cluster/index.ts'

/** LevelDB passes on what the system said as text, without its code. */
const REFUSALS =
  /Permission denied|Operation not permitted|Read-only file system|No space left on device|Disk quota exceeded|Too many open files|Cannot allocate memory/
const FULL = /No space left on device|Disk quota exceeded/
const DAMAGE_CODES: ReadonlySet<unknown> = new Set(['LEVEL_CORRUPTION', 'LEVEL_IO_ERROR', 'EIO'])

/** The error itself when it speaks of damage, a StateDamagedError around it when LevelDB met it, null otherwise. */
export function damageIn(error: unknown): StateDamagedError | null {
  if (error instanceof StateDamagedError) return error
  if (!(error instanceof Error) || !('code' in error) || !DAMAGE_CODES.has(error.code)) return null
  if (REFUSALS.test(error.message)) return null
  return new StateDamagedError(`Cannot read the state: the disk says "${error.message}"`, { cause: error })
}

/** Damage that a write met, in what LevelDB read for it. Any other failure of a write speaks of the disk, which nobody can replace. */
export function damageInWrite(error: unknown): StateDamagedError | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'LEVEL_CORRUPTION') return null
  return new StateDamagedError(`Cannot write the state: LevelDB says "${error.message}"`, { cause: error })
}

/** What stops the node: a write failed, and nobody knows what the disk has of it. Says what the operator has to do. */
export function writeRefusal(cause: unknown): Error {
  const what = FULL.test(reasonOf(cause))
    ? 'the disk is full; free space'
    : 'the disk refused; check the disk'
  return new Error(`Cannot write the state: ${what}, then start the node again`, { cause })
}

/** Damage, or a refusal of the machine: it says nothing of what was asked for. */
export function isOfStore(error: unknown): boolean {
  const isOfLevel = (one: Error): boolean => 'code' in one && /^(LEVEL_|E[A-Z]+$)/.test(String(one.code))
  return chainOf(error).some((one) => one instanceof StateDamagedError || isOfLevel(one))
}

/** The disk failed to read. What lies there may be whole. */
export function hasReadError(error: unknown): boolean {
  return chainOf(error).some((one) => 'code' in one && one.code === 'EIO')
}

export function isLocked(error: unknown): boolean {
  return chainOf(error).some((one) => 'code' in one && one.code === 'LEVEL_LOCKED')
}

/** The machine does not let us at the files; they may be as good as ever. */
export function isRefusal(error: unknown): boolean {
  return chainOf(error).some(({ message }) => REFUSALS.test(message))
}

/** What LevelDB said, without the words that the binding puts around it. */
export function reasonOf(error: unknown): string {
  return chainOf(error).at(-1)?.message ?? String(error)
}

function chainOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...chainOf(error.cause)] : []
}
