/**
 * The copies of every chunk in the state of a stopped node: the right number, on members, and nowhere else.
 *
 * Rule: rows say where copies are; that they are present and intact is checked on the disk of each holder. [auditNode]
 */
import { join } from 'node:path'
import { openStore } from '../../../src/store/open-store.ts'
import { SILENT } from '../../helpers/loggers.ts'
import { chunkRanges } from '../../../src/state-machine/chunks/keys.ts'
import type { Page } from '../../../src/store/reads/state-reader.ts'
import type { ChunkRecord } from '../../../src/state-machine/chunks/records.ts'

const PAGE = 500

export interface ReplicaCounts {
  readonly members: readonly string[]
  readonly copies: number
}

/** Violations as sentences; empty: none. */
export async function copyCountFaults(
  dataDir: string,
  { members, copies }: ReplicaCounts,
): Promise<readonly string[]> {
  const { stateMachine, reader } = openStore({ dir: join(dataDir, 'state'), logger: SILENT })
  const { fault } = await stateMachine.open()
  if (fault !== null) return [fault]
  const faults: string[] = []
  try {
    for (let after: string | null = ''; after !== null; ) {
      const page: Page<ChunkRecord> = await reader.page(chunkRanges.chunks(), { after, limit: PAGE })
      for (const { id, references, replicas, owed } of page.items) {
        const nonMembers = [...replicas, ...owed].filter((node) => !members.includes(node))
        if (nonMembers.length > 0) faults.push(`${id} names ${nonMembers.join()}, which left`)
        // An unreferenced chunk is being removed.
        if (references > 0 && replicas.length !== copies)
          faults.push(`${id} has ${replicas.length} copies, on ${replicas.join()}`)
      }
      after = page.next
    }
  } finally {
    await stateMachine.close()
  }
  return faults
}
