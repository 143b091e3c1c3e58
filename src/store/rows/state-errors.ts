/**
 * What an error of LevelDB means: damage of the state, or a machine that does not give access.
 *
 * Owns: the distinction. Knows nothing of: what is done about either.
 * Rule: a full disk or a missing permission never counts as damage, because a good state would be given up; any other reason that
 * keeps a state from being read does.
 */
import { StateDamagedError } from '../../../cluster/index.ts'

/** LevelDB passes on the message of the system as text, without its code; that of Node begins with a small letter. */
const REFUSALS =
  /Permission denied|Operation not permitted|Read-only file system|No space left on device|Disk quota exceeded|Too many open files|Cannot allocate memory/i
const FULL = /No space left on device|Disk quota exceeded/i
const DAMAGE_CODES: ReadonlySet<unknown> = new Set(['LEVEL_CORRUPTION', 'LEVEL_IO_ERROR', 'EIO'])

/** The error itself when it reports damage, a StateDamagedError around it when LevelDB found the damage, null otherwise. */
export function damageIn(error: unknown): StateDamagedError | null {
  if (error instanceof StateDamagedError) return error
  if (!(error instanceof Error) || !('code' in error) || !DAMAGE_CODES.has(error.code)) return null
  if (REFUSALS.test(error.message)) return null
  return new StateDamagedError(`Cannot read the state: the disk says "${error.message}"`, { cause: error })
}

/** Damage in files that LevelDB read for a write. Any other failure of a write is one of the disk, which no other node can replace. */
export function damageInWrite(error: unknown): StateDamagedError | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'LEVEL_CORRUPTION') return null
  return new StateDamagedError(`Cannot write the state: LevelDB says "${error.message}"`, { cause: error })
}

/** The error that stops the node: a write failed, and how much of it is on disk is unknown. It states what the operator has to do. */
export function writeRefusal(cause: unknown): Error {
  const what = FULL.test(reasonOf(cause))
    ? 'the disk is full; free space'
    : 'the disk refused; check the disk'
  return new Error(`Cannot write the state: ${what}, then start the node again`, { cause })
}

/** Damage, or a refusal of the machine: it is independent of the command. */
export function isOfStore(error: unknown): boolean {
  const isOfLevel = (one: Error): boolean => 'code' in one && /^(LEVEL_|E[A-Z]+$)/.test(String(one.code))
  return chainOf(error).some((one) => one instanceof StateDamagedError || isOfLevel(one))
}

/** The disk failed to read. The stored bytes may be whole. */
export function hasReadError(error: unknown): boolean {
  return chainOf(error).some((one) => 'code' in one && one.code === 'EIO')
}

export function isLocked(error: unknown): boolean {
  return chainOf(error).some((one) => 'code' in one && one.code === 'LEVEL_LOCKED')
}

/** The machine gives no access to the files; they may be whole. */
export function isRefusal(error: unknown): boolean {
  return chainOf(error).some(({ message }) => REFUSALS.test(message))
}

/** The message of LevelDB, without the words that the binding puts around it. */
export function reasonOf(error: unknown): string {
  return chainOf(error).at(-1)?.message ?? String(error)
}

function chainOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...chainOf(error.cause)] : []
}
