/**
 * Reads everything back from the disk of a stopped node: each row of its state and each copy that the rows list for it.
 *
 * Rule: it does not use the objects that served; it opens new ones on the files.
 */
import { join } from 'node:path'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import type { BlobRef, CopyLedger, Logger } from '../../cluster/base/types.ts'
import { createCopyLedger } from '../../src/store/ledger/copy-ledger.ts'
import { openStore } from '../../src/store/open-store.ts'

const PAGE = 500
const FINDINGS_MAX = 20

export interface AuditReport {
  readonly copies: number
  readonly bytes: number
  /** Chunks of this cluster with fewer copies than nodes, or with a copy that is still to be made. */
  readonly incomplete: number
  /** Sentences; at most FINDINGS_MAX. */
  readonly faults: readonly string[]
}

const SILENT: Logger = {
  fatal: () => undefined,
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => SILENT,
}

/** `nodes`: the number of nodes; each should have a copy of everything. */
export async function auditNode(dataDir: string, nodeId: string, nodes: number): Promise<AuditReport> {
  const { stateMachine, reader } = openStore({ dir: join(dataDir, 'state'), logger: SILENT })
  const { fault } = await stateMachine.open()
  if (fault !== null) return { copies: 0, bytes: 0, incomplete: 0, faults: [`state of ${nodeId}: ${fault}`] }
  const ledger = createCopyLedger(reader, () => Promise.reject(new Error('An audit changes nothing')), {
    reachesLevel: () => Promise.resolve(true),
  })
  try {
    const wrong = await stateMachine.verify()
    const found = await auditCopies(join(dataDir, 'blobs'), ledger, { nodeId, nodes })
    return wrong === null ? found : { ...found, faults: [`state of ${nodeId}: ${wrong}`, ...found.faults] }
  } finally {
    await stateMachine.close()
  }
}

async function auditCopies(
  directory: string,
  ledger: CopyLedger,
  { nodeId, nodes }: { readonly nodeId: string; readonly nodes: number },
): Promise<AuditReport> {
  const faults: string[] = []
  const onFatal = (error: Error): void => void faults.push(`store of ${nodeId}: ${error.message}`)
  const store = new DiskBlobStore({ directory, logger: SILENT, onFatal })
  await store.open()
  let [copies, bytes, incomplete] = [0, 0, 0]
  try {
    for (let after: string | null = null, isMore = true; isMore; isMore = after !== null) {
      const page = await ledger.listed(nodeId, after, PAGE)
      for (const ref of page.refs) {
        const fault = await faultOf(store, ref)
        if (fault !== null && faults.length < FINDINGS_MAX) faults.push(`${ref.id} on ${nodeId}: ${fault}`)
        if (ref.replicas.length < nodes) incomplete++
        copies++
        bytes += ref.size
      }
      after = page.next
    }
  } finally {
    await store.close()
  }
  return { copies, bytes, incomplete: incomplete + ledger.pending(nodeId, PAGE).length, faults }
}

async function faultOf(store: DiskBlobStore, ref: BlobRef): Promise<string | null> {
  try {
    const { size, checksum } = await store.verify(ref)
    return size === ref.size && checksum === ref.checksum ? null : 'it holds different bytes'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
