/**
 * Where every chunk of a stopped node's state has its copies: as many as there should be, on members, and nowhere else.
 *
 * Rule: rows say where copies are; that they are there, and good, is looked at on the disk of each holder. [auditNode]
 */
import { join } from 'node:path'
import { openStore } from '../../../src/store/open-store.ts'
import { SILENT } from '../../helpers/loggers.ts'

const PAGE = 500

export interface ReplicaCounts {
  readonly members: readonly string[]
  readonly copies: number
}

/** Sentences; empty: all is as it should be. */
export async function censusFaults(
  dataDir: string,
  { members, copies }: ReplicaCounts,
): Promise<readonly string[]> {
  const { stateMachine, reader } = openStore({ dir: join(dataDir, 'state'), logger: SILENT })
  const { fault } = await stateMachine.open()
  if (fault !== null) return [fault]
  const faults: string[] = []
  try {
    for (let after: string | null = ''; after !== null; ) {
      const page = await reader.chunks(after, PAGE)
      for (const { id, references, replicas, owed } of page.items) {
        const strangers = [...replicas, ...owed].filter((node) => !members.includes(node))
        if (strangers.length > 0) faults.push(`${id} names ${strangers.join()}, who left`)
        // One that nobody refers to is on its way out.
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
