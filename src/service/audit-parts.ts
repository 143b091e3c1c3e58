/**
 * The parts of a node that keep and deliver the audit log, from its settings.
 */
import { join } from 'node:path'
import { cipherOf, type Logger } from '../../cluster/index.ts'
import type { AuditTrail } from '../audit/audit-trail.ts'
import { CountingTrail } from '../audit/counting-trail.ts'
import type { Config } from '../config/types.ts'
import type { Services } from '../operations/base/services.ts'
import type { Origin } from '../state-machine/base/origin.ts'
import type { Command } from '../state-machine/commands.ts'
import type { Caller } from '../state-machine/tenants/callers.ts'
import type { ExportTarget } from '../workers/audit-export/export-target.ts'
import { openTarget } from '../workers/audit-export/open-target.ts'

export function openAuditTrail(
  { node, audit }: Config,
  metadataKey: Uint8Array | null,
  logger: Logger,
): Promise<CountingTrail> {
  return CountingTrail.open({
    ...audit,
    dir: join(node.dataDir, 'audit'),
    cipher: cipherOf(metadataKey, 'audit'),
    logger: logger.child({ component: 'audit' }),
    now: () => performance.now(),
  })
}

/** Null: the log is not exported. Throws StartError `audit_export_unusable`. */
export async function openExport({ audit }: Config, time: { now(): number }): Promise<ExportTarget | null> {
  return audit.export === null ? null : openTarget(audit.export, () => time.now())
}

/** Services that write audit rows only while `isAudited` returns true. */
export function auditedWhile(isAudited: () => boolean, services: Services): Services {
  const { audit } = services
  const propose = (command: Command, origin?: Origin, caller?: Caller): Promise<unknown> =>
    services.propose(command, isAudited() ? origin : undefined, caller)
  const switched: AuditTrail = {
    isStrict: audit.isStrict,
    admit: () => audit.admit(),
    append: (row, how) => void (isAudited() && audit.append(row, how)),
    durable: (caller) => audit.durable(caller),
  }
  return { ...services, audit: switched, propose: propose as Services['propose'] }
}
