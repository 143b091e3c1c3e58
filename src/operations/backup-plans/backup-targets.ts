/**
 * Named backup targets: authorize -> read -> the place answers a probe -> its marker is written -> commit. Only an owner of the whole cluster sets one,
 * because everything that the cluster stores goes there.
 */
import { randomBytes } from 'node:crypto'
import { adminToken } from '../../access/rights.ts'
import { backupTargetSecret } from '../../access/sealing-contexts.ts'
import type { OpenPlace } from '../../backup/targets/target-book.ts'
import { TargetError } from '../../backup/targets/target.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import { backupKeys } from '../../state-machine/backup-plans/keys.ts'
import { targetsOf } from '../../state-machine/backup-plans/plans.ts'
import type { BackupPlace, BackupTargetRecord } from '../../state-machine/backup-plans/records.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { readPlace, type S3Request, type TargetRequest } from './target-request.ts'

interface Named {
  readonly name: string
}

/** At most BACKUP_TARGETS_MAX, so there are no pages. */
export const listBackupTargets = adminOperation(
  {
    id: 'listBackupTargets',
    requires: adminToken('viewer', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async ({ state }): Promise<readonly BackupTargetRecord[]> => state.cut(targetsOf),
)

export const getBackupTarget = adminOperation(
  {
    id: 'getBackupTarget',
    requires: adminToken('viewer', 'cluster'),
    refuses: ['not_found'],
    target: noTarget,
  },
  async ({ state }, principal, { name }: Named): Promise<BackupTargetRecord> => {
    const found = state.get(backupKeys.backupTarget(name))
    if (found !== undefined) return found
    throw new Refusal('not_found', `There is no backup target "${name.slice(0, 80)}"`)
  },
)

export const setBackupTarget = adminOperation(
  {
    id: 'setBackupTarget',
    requires: adminToken('owner', 'cluster'),
    refuses: ['invalid_argument', 'precondition_failed', 'quota_exceeded'],
    target: noTarget,
  },
  async (services, principal, { name, ...request }: Named & TargetRequest): Promise<BackupTargetRecord> => {
    const { backups, state } = services
    const present = state.get(backupKeys.backupTarget(name))
    const place = readPlace(request, (s3) => keptSecret(services, present, s3))
    const markerId =
      present !== undefined && isSamePlace(present.place, place) ? present.markerId : newMarkerId()
    await answered(name, async () => {
      await backups.book.probe(place)
      await backups.book.mark(place, markerId)
    })
    return settle(
      await services.propose({
        type: 'setBackupTarget',
        name,
        place: sealed(services, name, place),
        markerId,
      }),
    )
  },
)

/** Repeating it is safe. What lies in the target stays. */
export const deleteBackupTarget = adminOperation(
  {
    id: 'deleteBackupTarget',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed'],
    target: noTarget,
  },
  async (services, principal, { name }: Named): Promise<null> => {
    return settle(await services.propose({ type: 'deleteBackupTarget', name }))
  },
)

const newMarkerId = (): string => randomBytes(12).toString('hex')

/** A secret goes to no other address, and is used with no other key, than those it was given for. */
function keptSecret(
  { backups }: Services,
  present: BackupTargetRecord | undefined,
  s3: S3Request,
): string | null {
  const place = present?.place
  if (present === undefined || place?.kind !== 's3') return null
  const isSame = place.accessKeyId === s3.accessKeyId && place.endpoint === s3.endpoint.replace(/\/$/, '')
  return isSame ? backups.book.secretOf(present.name, place) : null
}

function isSamePlace(one: BackupPlace, other: OpenPlace): boolean {
  if (one.kind === 'directory' || other.kind === 'directory')
    return one.kind === other.kind && 'folder' in one && 'folder' in other && one.folder === other.folder
  return one.endpoint === other.endpoint && one.bucket === other.bucket && one.prefix === other.prefix
}

function sealed({ backups }: Services, name: string, place: OpenPlace): BackupPlace {
  if (place.kind === 'directory') return place
  const { secretKey, ...rest } = place
  return { ...rest, secret: backups.masterKey.seal(Buffer.from(secretKey), backupTargetSecret(name)) }
}

async function answered(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    if (!(cause instanceof TargetError)) throw cause
    throw new Refusal(
      'precondition_failed',
      `Cannot set backup target "${name.slice(0, 80)}": ${cause.message}`,
      {
        cause,
      },
    )
  }
}
