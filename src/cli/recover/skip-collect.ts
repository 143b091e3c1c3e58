/**
 * `holdfast recover skip-entry collect`: writes a report of the entry that a stopped node cannot apply. [deploy/runbooks/skip-entry.md]
 *
 * Owns: the file. Rule: the node is not changed.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type OpenedNode, withStoppedNode } from '../../quorum-recovery/open-node.ts'
import { signFile } from '../../quorum-recovery/signed-file.ts'
import {
  carriedIn,
  SKIP_FORMAT,
  type SkipReport,
  skipReportFileOf,
} from '../../quorum-recovery/skip-files.ts'
import { VERSION } from '../../base/version.ts'
import { EXIT } from '../base/exit.ts'
import { note, printJson, printLine } from '../base/printing.ts'

export interface SkipCollectOptions {
  readonly config: string
  readonly out: string
  readonly json?: boolean
}

export async function collectEntry({ config, out, json = false }: SkipCollectOptions): Promise<number> {
  const { file, report } = await withStoppedNode(config, (opened) => collectInto(out, opened))
  if (json) printJson({ file, ...report })
  else {
    printLine(file)
    note(summaryOf(report))
  }
  return EXIT.done
}

function summaryOf({ facts }: SkipReport): string {
  const { nodeId, last, applied, obstacle, fault } = facts
  const where = `${nodeId}: log to ${last.index} of term ${last.term}, applied to ${applied.index}`
  if (fault !== null) return `${where}; the log cannot be tried out: ${fault}`
  if (obstacle === null) return `${where}; every entry of the log can be applied`
  const { index, term, digest, why } = obstacle
  return `${where}; entry ${index} of term ${term}, digest ${digest}, cannot be applied: ${why}`
}

async function collectInto(
  out: string,
  { node, masterKey, rehearse }: OpenedNode,
): Promise<{ readonly file: string; readonly report: SkipReport }> {
  await mkdir(out, { recursive: true, mode: 0o700 })
  const facts = await node.facts(rehearse)
  const { obstacle, nodeId } = facts
  const carried = obstacle === null ? null : carriedIn(node.commandsAt(obstacle.index))
  const report = { format: SKIP_FORMAT, madeAt: Date.now(), version: VERSION, facts, carried }
  const file = join(out, skipReportFileOf(nodeId))
  await writeFile(`${file}.tmp`, signFile(masterKey, 'skip-report', report), { mode: 0o600, flush: true })
  await rename(`${file}.tmp`, file)
  return { file, report }
}
