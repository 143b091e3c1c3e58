/**
 * `holdfast recover plan`: makes one plan from the reports of the survivors, with the losses that it causes. [decisions 12: lost quorum]
 *
 * Owns: which reports count, the files. Knows nothing of: how the winner is chosen (cluster/quorum-recovery). Rule: it only reads and writes
 * recovery files: nothing else changes before the plan is applied.
 */
import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { planRecovery, type PlanRefusal, type RecoveryDecision } from '../../../cluster/index.ts'
import type { MasterKey } from '../../access/master-key.ts'
import { loadMasterKeyOnce } from '../../access/provided-keys.ts'
import { loadConfig } from '../../config/load-config.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printJson, printLine } from '../base/printing.ts'
import { digestOf, readInventory } from '../../quorum-recovery/inventory.ts'
import { type Inventory, lossOf } from '../../quorum-recovery/loss.ts'
import {
  inventoryFileOf,
  RECOVERY_FORMAT,
  type Plan,
  type Report,
  reportFileOf,
} from '../../quorum-recovery/recovery-files.ts'
import { readSignedFile, signFile } from '../../quorum-recovery/signed-file.ts'
import { statementOf } from '../../quorum-recovery/statement.ts'

export interface PlanOptions {
  readonly config: string
  readonly reports: string
  readonly dead?: readonly string[]
  readonly restored?: boolean
  readonly out?: string
  readonly json?: boolean
}

const REPORT = /\.report\.json$/
/** Names printed; the plan contains all of them. */
const NAMED_SHOWN_MAX = 20

export async function planFromReports(options: PlanOptions): Promise<number> {
  const { config, reports: folder, dead = [], restored = false, out, json = false } = options
  const masterKey = await loadMasterKeyOnce(loadConfig(config, process.env).security)
  const reports = await readReports(masterKey, folder)
  const planned = planRecovery(
    reports.map(({ facts }) => facts),
    { dead, isRestored: restored },
  )
  if ('refusals' in planned) return refuse(planned.refusals, json)
  const plan = await planOf(planned.decision, reports, folder)
  if (out !== undefined)
    await writeFile(out, signFile(masterKey, 'recovery-plan', plan), {
      mode: 0o600,
      flush: true,
      flag: 'wx',
    })
  if (json) printJson({ file: out ?? null, plan })
  else printPlan(plan, out)
  return EXIT.done
}

async function readReports(masterKey: MasterKey, folder: string): Promise<readonly Report[]> {
  const files = (await readdir(folder)).filter((name) => REPORT.test(name)).toSorted()
  const reports: Report[] = []
  for (const name of files) {
    const report = await readSignedFile<Report>(masterKey, 'recovery-report', join(folder, name))
    if (report.format !== RECOVERY_FORMAT || name !== reportFileOf(report.facts.nodeId))
      throw unusable(name, `it has format ${report.format} and is from ${report.facts.nodeId}`)
    if (report.full !== null) throw unusable(name, report.full)
    await checkInventory(folder, report)
    reports.push(report)
  }
  return reports
}

async function checkInventory(folder: string, { facts, inventory }: Report): Promise<void> {
  const name = inventoryFileOf(facts.nodeId)
  if (inventory === null) return
  const digest = await digestOf(join(folder, name))
  if (digest !== inventory.sha256) throw unusable(name, 'its digest is not the one in the report')
}

async function planOf(decision: RecoveryDecision, reports: readonly Report[], folder: string): Promise<Plan> {
  const inventories = new Map<string, Inventory>(
    decision.survivors.map((node) => [node, () => readInventory(join(folder, inventoryFileOf(node)))]),
  )
  const loss = await lossOf(decision.winner, inventories)
  return {
    format: RECOVERY_FORMAT,
    planId: `rp_${Date.now().toString(36).padStart(9, '0')}${randomBytes(6).toString('hex')}`,
    madeAt: Date.now(),
    clusterId: reports[0]?.facts.clusterId ?? '',
    decision,
    reports: reports.map(({ facts: { nodeId, incarnation, boot, term, last, applied } }) => {
      return { nodeId, incarnation, boot, term, last, applied }
    }),
    loss,
    statement: statementOf(decision, loss),
  }
}

function refuse(refusals: readonly PlanRefusal[], json: boolean): number {
  if (json) printJson({ plan: null, refusals })
  else for (const { code, message } of refusals) note(`refused (${code}): ${message}`)
  return EXIT.refused
}

function printPlan({ planId, statement, loss }: Plan, out: string | undefined): void {
  for (const sentence of statement) printLine(sentence)
  for (const { tenantId, bucket, key, versionId } of loss.named.slice(0, NAMED_SHOWN_MAX))
    printLine(`  lost: ${tenantId} ${bucket}/${printable(key)} version ${versionId}`)
  if (loss.named.length > NAMED_SHOWN_MAX) printLine(`  and ${loss.versions - NAMED_SHOWN_MAX} more`)
  note(
    out === undefined
      ? 'Nothing was written: give --out to write this plan to a file.'
      : `Plan ${planId} is in ${out}: apply it on every survivor.`,
  )
}

function unusable(file: string, why: string): CommandError {
  return new CommandError(`Cannot use '${file}': ${why}`, {
    code: 'paper_unreadable',
    hint: 'Copy the report and the inventory of each survivor as holdfast recover collect wrote them.',
    exitCode: EXIT.refused,
  })
}
