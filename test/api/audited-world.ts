/**
 * The two servers, and every row of the audit log that their requests have left: those of the edge and those of the log.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { rowFilter } from '../../src/operations/audit/audit-filters.ts'
import { type AuditPage, auditPage, type AuditPlace } from '../../src/operations/audit/audit-page.ts'
import type { AuditRow } from '../../src/state-machine/audit/records.ts'
import { AuditSealing, SEGMENT_BOUNDS } from '../../src/workers/audit-sealing.ts'
import { until } from '../helpers/async.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { SILENT } from '../helpers/loggers.ts'
import type { MemoryServices } from '../helpers/memory-services.ts'
import { ApiWorld, type Ask, type ApiAnswer } from './api-world.ts'

/** Rows as a node sends them from its spool. */
export async function ship(
  world: ApiWorld,
  rows: readonly AuditRow[],
  first = 0,
  spool = 's',
): Promise<void> {
  const plain = rows.map((row) => JSON.stringify(row)).join('\n')
  const batch = { node: 'n1', spool, first, count: rows.length, digest: hash('sha256', plain) }
  const packed = zstdCompressSync(plain)
  const reply = await world.memory.services.propose({ type: 'shipAudit', ...batch, packed })
  if (!reply.ok) throw new Error(reply.message)
}

/** A round of it seals all rows into a segment. */
export function sealingIn(memory: MemoryServices): AuditSealing {
  return new AuditSealing({
    cluster: { isJobRunner: () => true, membership: { local: () => ({ stateLevel: 3 }) } },
    state: memory.reader,
    content: memory.own,
    masterKey: testMasterKey,
    propose: memory.services.propose,
    now: () => Date.now() + 2 * SEGMENT_BOUNDS.ageMs,
    monotonic: () => performance.now(),
    logger: SILENT,
  })
}

export class AuditedWorld {
  readonly world: ApiWorld
  /** A bearer token of the tenant `acme`; '' where there is none yet. */
  readonly token: string
  readonly owner: string

  static async start(...parameters: Parameters<typeof ApiWorld.withBucket>): Promise<AuditedWorld> {
    const { world, token } = await ApiWorld.withBucket(...parameters)
    return new AuditedWorld(world, token, await world.memory.adminToken('owner'))
  }

  /** Only an owner exists. */
  static async empty(...parameters: Parameters<typeof ApiWorld.start>): Promise<AuditedWorld> {
    const world = await ApiWorld.start(...parameters)
    return new AuditedWorld(world, '', await world.memory.adminToken('owner'))
  }

  /** A world that is there already; `token` is one of the tenant `acme`. */
  static async around(world: ApiWorld, token: string): Promise<AuditedWorld> {
    return new AuditedWorld(world, token, await world.memory.adminToken('owner'))
  }

  private constructor(world: ApiWorld, token: string, owner: string) {
    this.world = world
    this.token = token
    this.owner = owner
  }

  /** Everything that is committed, the newest first. */
  async committed(): Promise<readonly AuditRow[]> {
    const { state, auditSegments: segments } = this.world.memory.services
    const rows: AuditRow[] = []
    const query = { since: 0, until: null, limit: 1_000, filter: rowFilter({}) }
    for (let from: AuditPlace | null = null; ; ) {
      const page: AuditPage = await auditPage({ state: state, segments }, { ...query, from })
      rows.push(...page.rows.map(({ row }) => row))
      if (page.next === null) return rows
      from = page.next
    }
  }

  async rowsOf(requestId: string): Promise<readonly AuditRow[]> {
    const all = [...this.world.memory.auditRows, ...(await this.committed())]
    return all.filter((row) => row.requestId === requestId)
  }

  /** Sends a request, and asserts exactly one row. */
  async row(ask: Ask): Promise<{ readonly answer: ApiAnswer; readonly row: AuditRow }> {
    const answer = await this.world.send(ask)
    const requestId = String(answer.headers['x-request-id'])
    // The edge writes when the connection is done with the request, which the client may know first.
    await until('the request is recorded', async () => (await this.rowsOf(requestId)).length > 0)
    const rows = await this.rowsOf(requestId)
    const [row] = rows
    assert.ok(row !== undefined && rows.length === 1, `${rows.length} rows tell of ${ask.method} ${ask.path}`)
    return { answer, row }
  }
}
