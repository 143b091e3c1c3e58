/**
 * `holdfast recover skip-entry plan`: makes one plan from the reports of all nodes, with the losses it causes. [deploy/runbooks/skip-entry.md]
 *
 * Owns: which reports count, the file. Knows nothing of: the conditions under which an entry may be skipped (cluster/quorum-recovery). Rule: it
 * only reads and writes recovery files: nothing else changes before the plan is applied.
 */
import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { planSkip, type SkipRefusal } from '../../../cluster/index.ts'
import type { MasterKey } from '../../access/master-key.ts'
import { loadMasterKeyOnce } from '../../access/provided-keys.ts'
import { loadConfig } from '../../config/load-config.ts'
import { readSignedFile, signFile } from '../../quorum-recovery/signed-file.ts'
import {
  carriedIn,
  SKIP_FORMAT,
  type SkipPlan,
  type SkipReport,
  skipStatement,
} from '../../quorum-recovery/skip-files.ts'
import { VERSION } from '../../base/version.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printJson, printLine } from '../base/printing.ts'

export interface SkipPlanOptions {
  readonly config: string
  readonly reports: string
  readonly reason: string
  readonly dead?: readonly string[]
  readonly out?: string
  readonly json?: boolean
}

const REPORT = /\.entry\.json$/

export async function planSkipping(options: SkipPlanOptions): Promise<number> {
  const { config, reports: folder, reason, dead = [], out, json = false } = options
  const masterKey = await loadMasterKeyOnce(loadConfig(config, process.env).security)
  const reports = await readReports(masterKey, folder)
  const planned = planSkip(
    reports.map(({ facts }) => facts),
    dead,
  )
  if ('refusals' in planned) return refuse(planned.refusals, json)
  const { decision } = planned
  const clusterId = reports[0]?.facts.clusterId ?? ''
  const carried =
    reports.find(({ facts }) => decision.holders.includes(facts.nodeId))?.carried ?? carriedIn(null)
  const statement = skipStatement(decision, carried)
  const planId = `sp_${Date.now().toString(36).padStart(9, '0')}${randomBytes(6).toString('hex')}`
  const made = { format: SKIP_FORMAT, planId, madeAt: Date.now(), version: VERSION }
  const plan: SkipPlan = { ...made, clusterId, reason, decision, carried, statement }
  if (out !== undefined)
    await writeFile(out, signFile(masterKey, 'skip-plan', plan), { mode: 0o600, flush: true, flag: 'wx' })
  if (json) printJson({ file: out ?? null, plan })
  else printPlan(plan, out)
  return EXIT.done
}

async function readReports(masterKey: MasterKey, folder: string): Promise<readonly SkipReport[]> {
  const files = (await readdir(folder)).filter((name) => REPORT.test(name)).toSorted()
  const reports: SkipReport[] = []
  for (const name of files) {
    const report = await readSignedFile<SkipReport>(masterKey, 'skip-report', join(folder, name))
    if (report.format !== SKIP_FORMAT) throw ofOtherFormat(name, report.format)
    reports.push(report)
  }
  return reports
}

function refuse(refusals: readonly SkipRefusal[], json: boolean): number {
  if (json) printJson({ plan: null, refusals })
  else for (const { code, message } of refusals) note(`refused (${code}): ${message}`)
  return EXIT.refused
}

function printPlan({ planId, statement, decision }: SkipPlan, out: string | undefined): void {
  for (const sentence of statement) printLine(sentence)
  note(
    out === undefined
      ? 'Nothing was written: give --out to write this plan to a file.'
      : `Plan ${planId} is in ${out}: apply it on every node, with --confirm ${decision.index}.`,
  )
}

function ofOtherFormat(file: string, format: number): CommandError {
  return new CommandError(
    `Cannot use '${file}': it has format ${format}, but this version reads format ${SKIP_FORMAT}`,
    {
      code: 'paper_unreadable',
      hint: 'Collect and plan with the same version of holdfast on every node.',
      exitCode: EXIT.refused,
    },
  )
}
