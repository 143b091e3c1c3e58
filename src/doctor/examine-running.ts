/**
 * What the doctor finds on a running node, and until when its certificates are valid.
 *
 * Owns: which checks a running node makes. Rules: nothing is written and no other node is asked, so the answer does not depend on who else runs; a check
 * whose facts cannot be had makes no finding, and its name is in `notChecked`.
 */
import { plainListeners } from '../config/plain-listeners.ts'
import type { Config } from '../config/types.ts'
import type { NodePlacement } from '../api/local/node-placement.ts'
import type { AuditStatus, BackupStatus, NodeStatus } from '../api/local/node-status.ts'
import type { SelfCertificate } from '../operations/doctor/self-report.ts'
import { checkAudit } from './audit-checks.ts'
import { checkBackups } from './backup-checks.ts'
import { checkListenerTls, checkPeerTls } from './certificate-checks.ts'
import { termOf } from './certificate-dates.ts'
import { listenerTlsFacts, peerTlsFacts } from './certificate-facts.ts'
import { CHECKS, type CheckId } from './check-list.ts'
import { directoryFacts, identityFacts } from './directory-facts.ts'
import { examineData, examineDisks } from './examine-data.ts'
import type { Finding } from './finding.ts'
import { checkMachine } from './machine-checks.ts'
import { machineFacts } from './machine-facts.ts'
import { checkNode } from './node-checks.ts'
import { checkPlacement } from './placement-checks.ts'
import { checkWebhookTargets } from './webhook-checks.ts'

/** What the node knows of itself. */
export interface RunningFacts {
  readonly status: NodeStatus
  /** Null: not known now. */
  readonly audit: AuditStatus | null
  readonly backups: BackupStatus | null
  readonly placement: NodePlacement | null
  /** ms since 1970. */
  readonly now: number
}

export interface RunningExamination {
  readonly findings: readonly Finding[]
  readonly notChecked: readonly CheckId[]
  readonly certificates: readonly SelfCertificate[]
}

/** `onFault`: what kept checks from being made, such as a disk that cannot be read; the others are made. */
export async function examineRunning(
  config: Config,
  { status, audit, backups, placement, now }: RunningFacts,
  onFault: (cause: unknown) => void,
): Promise<RunningExamination> {
  const made = async (examined: Promise<readonly Finding[]>): Promise<readonly Finding[]> =>
    examined.catch((cause: unknown) => {
      onFault(cause)
      return []
    })
  const { dataDir, id: nodeId } = config.node
  const directory = await directoryFacts(dataDir)
  const peerTls = await peerTlsFacts(config)
  const listeners = await listenerTlsFacts(config)
  const findings = [
    ...checkMachine(await machineFacts(status.pid)),
    ...checkNode({ kind: 'answering', status }, status.version),
    ...(await made(
      identityFacts(dataDir).then((ofIdentity) =>
        examineData(config, { keyInCluster: status.masterKeyFingerprint, directory, ofIdentity }),
      ),
    )),
    ...(await made(examineDisks(config, directory))),
    ...checkPeerTls(peerTls, nodeId, now),
    ...checkListenerTls(listeners, plainListeners(config), now),
    ...checkWebhookTargets(config.notifications),
    ...checkAudit(audit),
    ...checkBackups(backups),
    ...checkPlacement(placement),
  ]
  const certificates = [
    ...(peerTls.files?.certificates ?? []),
    ...listeners.flatMap((one) => [...one.certificates, ...(one.clients?.certificates ?? [])]),
  ]
  return {
    findings: CHECKS.flatMap(({ id }) => findings.filter(({ check }) => check === id)),
    notChecked: CHECKS.map(({ id }) => id).filter((id) => !findings.some(({ check }) => check === id)),
    certificates: certificates.map(({ setting, validFrom, validTo }) => ({
      setting,
      validFrom,
      validTo,
      term: termOf({ validFrom, validTo }, now),
    })),
  }
}
