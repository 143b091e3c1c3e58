/**
 * A state in a Map whose commands come from a request; the rows of its audit log and the result of its check.
 */
import { auditRanges, auditSequenceOf } from '../../src/state-machine/audit/keys.ts'
import { ChainCheck, type NotedHead } from '../../src/state-machine/audit/audit-chain.ts'
import { auditHead } from '../../src/state-machine/audit/append.ts'
import type { AuditLinkRecord, AuditRow } from '../../src/state-machine/audit/records.ts'
import type { Command, Reply } from '../../src/state-machine/commands.ts'
import type { Origin } from '../../src/state-machine/base/origin.ts'
import { digest, type MapWorld, rowsOf, rowsUnder } from './map-world.ts'

export const ORIGIN: Origin = {
  requestId: 'request-1',
  api: 'native',
  operation: 'putObject',
  method: 'PUT',
  path: '/api/v1/buckets/photos/objects/a',
  actor: { type: 'accessKey', id: 'AKEXAMPLE', role: null },
  tenantId: 'acme',
  bucket: 'photos',
  key: 'a',
  versionId: null,
  reason: 'because',
  sourceIp: '192.0.2.7',
  userAgent: 'curl/8',
  bytesIn: 12,
  elapsedMs: 3,
  successStatus: 200,
  nodeId: 'n1',
}

/** As a request would ask for it. */
export function ask<C extends Command>(
  world: MapWorld,
  command: C,
  more: Partial<Origin> = {},
): Reply<C['type']> {
  return world.entry([{ ...command, origin: { ...ORIGIN, ...more } }])[0] as Reply<C['type']>
}

export function links(world: MapWorld): AuditLinkRecord[] {
  return rowsUnder<AuditLinkRecord>(world, auditRanges.auditLinks())
}

/** Of changes, the newest last. */
export function auditRows(world: MapWorld): AuditRow[] {
  return links(world)
    .filter(({ packed }) => packed === null)
    .map(({ text }) => JSON.parse(text) as AuditRow)
}

/** Packed rows are plain texts here. */
export function verdict(world: MapWorld, noted: NotedHead | null = null): readonly string[] {
  const check = new ChainCheck(digest, auditHead(world), noted)
  const { start } = auditRanges.auditLinks()
  const keys = [...world.rows.keys()].filter((key) => key.startsWith(start)).toSorted()
  for (const key of keys)
    check.take(auditSequenceOf(key), world.rows.get(key) as AuditLinkRecord, (packed) =>
      Buffer.from(packed).toString(),
    )
  return check.finish()
}

export function ship(
  rows: readonly string[],
  first: number,
  more: { readonly spool?: string; readonly node?: string } = {},
): Extract<Command, { type: 'shipAudit' }> {
  const text = rows.join('\n')
  const named = { node: 'n1', spool: 'spool-1', ...more }
  return {
    type: 'shipAudit',
    ...named,
    first,
    count: rows.length,
    digest: digest(text),
    packed: Buffer.from(text),
  }
}

export const spoolRows = (world: MapWorld): number => rowsOf(world, 'auditSpool').length
