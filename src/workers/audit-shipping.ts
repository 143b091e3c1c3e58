/**
 * Brings the rows of this node's audit spools into the replicated log.
 *
 * Owns: the packing, and which rows the cluster has already. Knows nothing of: files, what rows mean.
 * Rules: rows leave a spool when the cluster has confirmed them. One batch at a time: the order is that of the spool. A spool has its
 * turn while those before it have no full batch, so a flood of unproved callers holds up no row of a known one.
 * Rows that come while a batch is in flight wait for the next round: every entry costs every node a flush and an apply.
 */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import type { View } from '../state-machine/base/view.ts'
import { auditRowKeys } from '../state-machine/audit/keys.ts'
import type { AuditSpool } from '../audit/audit-spool.ts'
import type { Logger } from '../../cluster/index.ts'
import type { Propose } from '../commands/propose.ts'

const compress = promisify(zstdCompress)
/** Rows are alike: more effort gains little. */
const LEVEL = 1

type ShippedSpool = Pick<AuditSpool, 'oldest' | 'taken' | 'hasFullBatch'>

export interface AuditShippingParts {
  readonly node: string
  /** In the order of their priority. */
  readonly spools: readonly ShippedSpool[]
  readonly state: View
  readonly propose: Propose
  readonly logger: Logger
}

export class AuditShipping {
  readonly #parts: AuditShippingParts

  constructor(parts: AuditShippingParts) {
    this.#parts = parts
  }

  /** One round; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    for (const spool of this.#parts.spools) {
      if (!(await this.#ship(spool))) return false
      if (spool.hasFullBatch) return true
    }
    return false
  }

  /** The oldest batch. False: the cluster did not take it. */
  async #ship(spool: ShippedSpool): Promise<boolean> {
    const { node, state, propose, logger } = this.#parts
    const batch = await spool.oldest()
    if (batch === null) return true
    const end = batch.first + batch.rows.length
    // A hint that saves work after a restart; the commit decides.
    let from = Math.max(batch.first, state.get(auditRowKeys.auditSpool(node, batch.spool))?.next ?? 0)
    while (from < end) {
      const rows = batch.rows.slice(from - batch.first)
      const plain = rows.join('\n')
      const packed = await compress(plain, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } })
      const named = {
        node,
        spool: batch.spool,
        first: from,
        count: rows.length,
        digest: hash('sha256', plain),
      }
      const reply = await propose({ type: 'shipAudit', ...named, packed })
      if (!reply.ok) {
        logger.error({ reason: reply.message }, 'audit rows not taken over')
        return false
      }
      from = Math.min(reply.value.next, end)
    }
    await spool.taken(batch)
    return true
  }
}
