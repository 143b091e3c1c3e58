/** A backup that is open, with the tenant that is taken out of it. */
import type { MasterKey } from '../../access/master-key.ts'
import type { KeyRing } from '../../content/key-ring.ts'
import type { RestoreScope } from '../../state-machine/long-operations/records.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { BackupReader } from '../read/backup-reader.ts'
import type { OpenTarget } from '../targets/open-target.ts'
import type { BackupTarget } from '../targets/target.ts'
import { BackupRows } from './backup-rows.ts'
import { SourceBodies } from './source-bodies.ts'
import { keysOf, tenantNamed } from './source-scope.ts'

export interface OpenedSource {
  readonly reader: BackupReader
  readonly rows: BackupRows
  readonly tenant: TenantRecord
  readonly ring: KeyRing
  readonly bodies: SourceBodies
}

/** `tenant`: an id, or a name. */
type SourceScope = Pick<RestoreScope, 'clusterId' | 'backupId'> & { readonly tenant: string }

/** Throws TargetError, ScopeUnknown. */
export async function openSource(
  target: BackupTarget,
  { clusterId, backupId, tenant: named }: SourceScope,
  masterKey: Pick<MasterKey, 'open'>,
): Promise<OpenedSource> {
  const reader = await BackupReader.open(target, { cluster: clusterId, backupId }, masterKey)
  const rows = new BackupRows(reader)
  const tenant = await tenantNamed(rows, named)
  const ring = keysOf(tenant, masterKey)
  return { reader, rows, tenant, ring, bodies: new SourceBodies({ reader, rows, tenant, ring }) }
}

export interface SourceKeeperParts {
  readonly openTarget: OpenTarget
  readonly masterKey: Pick<MasterKey, 'open'>
}

/** Keeps the backup of one operation open from step to step. */
export class SourceKeeper {
  readonly #parts: SourceKeeperParts
  #open: { readonly operationId: string; readonly source: OpenedSource } | null = null

  constructor(parts: SourceKeeperParts) {
    this.#parts = parts
  }

  /** Throws TargetError, ScopeUnknown. */
  async of(operationId: string, scope: SourceScope & Pick<RestoreScope, 'target'>): Promise<OpenedSource> {
    if (this.#open?.operationId === operationId) return this.#open.source
    await this.close()
    const { openTarget, masterKey } = this.#parts
    const target = openTarget(scope.target)
    try {
      const source = await openSource(target, scope, masterKey)
      this.#open = { operationId, source }
      return source
    } catch (error) {
      await target.close()
      throw error
    }
  }

  /** Ends the connections to the target. */
  async close(): Promise<void> {
    const { source } = this.#open ?? {}
    this.#open = null
    await source?.reader.target.close()
  }
}
