/**
 * `holdfast recover collect`: writes the report and the inventory of a stopped survivor. [decisions 12: lost quorum]
 *
 * Owns: the order of the files: the report comes last and contains the digest of the inventory. Rule: the node is not changed.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { VERSION } from '../../base/version.ts'
import { EXIT } from '../base/exit.ts'
import { note, printJson, printLine } from '../base/printing.ts'
import { writeInventory } from '../../quorum-recovery/inventory.ts'
import { type OpenedNode, withStoppedNode } from '../../quorum-recovery/open-node.ts'
import {
  inventoryFileOf,
  RECOVERY_FORMAT,
  type Report,
  reportFileOf,
} from '../../quorum-recovery/recovery-files.ts'
import { signFile } from '../../quorum-recovery/signed-file.ts'

export interface CollectOptions {
  readonly config: string
  readonly out: string
  readonly json?: boolean
}

export async function collectReport({ config, out, json = false }: CollectOptions): Promise<number> {
  const { file, report } = await withStoppedNode(config, (opened) => collectInto(out, opened))
  const { facts, inventory } = report
  if (json) printJson({ file, ...report })
  else {
    printLine(file)
    note(summaryOf(report))
  }
  if (facts.fault !== null) note(`This node cannot be a base of the recovery: ${facts.fault}`)
  if (facts.obstacle !== null)
    note(
      `Entry ${facts.obstacle.index} cannot be applied, and the entries after it are not counted: when the cluster is recovered, follow deploy/runbooks/skip-entry.md.`,
    )
  return inventory === null ? EXIT.refused : EXIT.done
}

function summaryOf({ facts, inventory }: Report): string {
  const { nodeId, last, applied, recoveryEpoch } = facts
  const copies = inventory === null ? 'copies not counted' : `${inventory.copies} copies on its disk`
  return `${nodeId}: log to ${last.index} of term ${last.term}, applied to ${applied.index}, epoch ${recoveryEpoch}, ${copies}`
}

async function collectInto(
  out: string,
  { node, masterKey, rehearse, capacityFault }: OpenedNode,
): Promise<{ readonly file: string; readonly report: Report }> {
  const { nodeId } = node.identity
  await mkdir(out, { recursive: true, mode: 0o700 })
  const isUsable = node.recovered !== null
  const state = isUsable ? rehearse() : null
  const facts = await node.facts(() => state ?? rehearse())
  const inventory =
    state === null ? null : await writeInventory(join(out, inventoryFileOf(nodeId)), node, state)
  const full = capacityFault(facts.members)
  const report = { format: RECOVERY_FORMAT, madeAt: Date.now(), version: VERSION, facts, inventory, full }
  const file = join(out, reportFileOf(nodeId))
  await writeFile(`${file}.tmp`, signFile(masterKey, 'recovery-report', report), {
    mode: 0o600,
    flush: true,
  })
  await rename(`${file}.tmp`, file)
  return { file, report }
}
