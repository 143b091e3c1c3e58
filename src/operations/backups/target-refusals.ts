/** Errors of a backup target as refusals: what the caller has to change, or to wait for. */
import { type BackupTarget, TargetError, TargetMissing, TargetRefused } from '../../backup/targets/target.ts'
import { Refusal } from '../../base/refusal.ts'
import type { Services } from '../base/services.ts'

/** Opens the target for the work, and closes it. Throws Refusal. */
export async function withTarget<T>(
  { backups }: Pick<Services, 'backups'>,
  text: string,
  work: (target: BackupTarget) => Promise<T>,
): Promise<T> {
  const target = opened(backups.openTarget, text)
  try {
    return await work(target)
  } catch (error) {
    throw refusalOf(error)
  } finally {
    await target.close()
  }
}

function opened(open: Services['backups']['openTarget'], text: string): BackupTarget {
  try {
    return open(text)
  } catch (cause) {
    if (!(cause instanceof TargetRefused)) throw cause
    throw new Refusal('invalid_argument', cause.message, { cause })
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof TargetError)) return error
  const code = error instanceof TargetMissing ? 'not_found' : 'precondition_failed'
  return new Refusal(code, error.message, { cause: error })
}
